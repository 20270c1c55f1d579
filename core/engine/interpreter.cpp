#include "core/engine/interpreter.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/array/array.hpp"
#include "core/array/binary.hpp"
#include "core/array/touch.hpp"
#include "core/sys/page_ops.hpp"

namespace memsweep::engine {
namespace {

using std::chrono::nanoseconds;

// One reading of everything that is accumulated over the timed steps, less what samples took of it.
struct Reading {
    nanoseconds wall{};
    nanoseconds cpu{};
    std::uint64_t minor_faults{};
    std::uint64_t major_faults{};
    std::uint64_t arrays{};
};

struct PhaseStart {
    nanoseconds wall{};
    std::uint64_t minor_faults{};
    std::uint64_t major_faults{};
};

class Interpreter {
  public:
    Interpreter(const RunRegion& region, World& world, Environment environment)
        : region_{region}, record_{region.header->record}, world_{world}, clock_{environment.clock},
          probe_{environment.probe}, page_bytes_{sys::page_size()}
    {
        make_handles();
        world_.heap.reserve(region_.header->order.reserved_blocks);
        rehearse();
    }

    void run()
    {
        if (!take_baseline()) {
            return finish(RunState::harness_failed);
        }
        const bool marked = region_.header->order.marked;
        if (!marked) {
            start_watch();
        }
        const bool completed = run_range(0, region_.instructions.size());
        if (watching_) {
            stop_watch();
        }
        finish(take_end() ? (completed ? RunState::finished : RunState::refused) : RunState::harness_failed);
    }

  private:
    struct Handles {
        std::vector<array::Array> current;
        std::vector<array::Array> fresh;  // what a rebinding makes before the old arrays go
        std::size_t in_use{};
        bool written{};  // its pages have been touched once, so that another write touches none anew
    };

    // Sized and constructed now, so that the pages they lie on belong to the baseline.
    void make_handles()
    {
        handles_.resize(region_.slots.size());
        for (std::size_t i = 0; i < handles_.size(); ++i) {
            handles_[i].current.resize(region_.slots[i].capacity);
            handles_[i].fresh.resize(region_.slots[i].capacity);
        }
    }

    // Runs the code of an allocation, a touch, a drop and a reading once, in a world of its own, so that the faults of
    // code pages and of lazily bound symbols belong to the baseline too.
    void rehearse()
    {
        memory::Counters counters;
        model::MemorySpec unlimited = world_.memory;
        unlimited.limit_bytes = 0;
        unlimited.fail_every = 0;
        World stage{unlimited, model::ReleaseSpec{}, counters, 0};
        const bool touchable = unlimited.resource != model::ResourceKind::null;
        const std::array<std::uint64_t, 1> one_page{page_bytes_};
        for (const model::Touch touch : {model::Touch::none, model::Touch::page, model::Touch::full}) {
            static_cast<void>(array::Array::create(stage.heap, model::DType::uint8, one_page, model::Fill::none,
                                                   touchable ? touch : model::Touch::none));
        }
        static_cast<void>(probe_.snapshot());
        static_cast<void>(probe_.peak_bytes());
        static_cast<void>(faults_so_far());
        static_cast<void>(clock_.process_cpu());
        static_cast<void>(clock_.now());
        std::ranges::fill(region_.points, PointRecord{});
        std::ranges::fill(region_.phases, PhaseRecord{});
    }

    bool take_baseline()
    {
        world_.counters.live_bytes_peak.store(world_.counters.live_bytes.load(std::memory_order_relaxed),
                                              std::memory_order_relaxed);
        world_.heap.reset_peaks();
        allocations_before_ = world_.counters.allocations.load(std::memory_order_relaxed);
        bytes_before_ = world_.counters.allocated_bytes.load(std::memory_order_relaxed);
        collections_before_ = world_.heap.stats().collections;
        probe_.reset_peak();
        const auto snapshot = probe_.snapshot();
        if (!snapshot) {
            return false;
        }
        record_.baseline_working_set_bytes = snapshot->working_set_bytes();
        record_.baseline_huge_page_bytes = snapshot->anon_huge_bytes;
        faults_at_start_ = probe_.faults();
        started_ = clock_.now();
        region_.header->started_ns.store(started_.count(), std::memory_order_relaxed);
        region_.header->state.store(RunState::running, std::memory_order_release);
        return true;
    }

    bool take_end()
    {
        record_.all_minor_faults = faults_so_far().minor;
        const auto peak = probe_.peak_bytes();
        const auto snapshot = probe_.snapshot();
        const lifetime::DisciplineStats stats = world_.heap.stats();
        record_.live_bytes_peak = world_.counters.live_bytes_peak.load(std::memory_order_relaxed);
        record_.arrays = world_.counters.allocations.load(std::memory_order_relaxed) - allocations_before_;
        record_.allocated_bytes = world_.counters.allocated_bytes.load(std::memory_order_relaxed) - bytes_before_;
        record_.floating_bytes_peak = stats.floating_bytes_peak;
        record_.queue_depth_peak = stats.queue_depth_peak;
        record_.collections = stats.collections - collections_before_;
        if (!snapshot || !peak) {
            return false;
        }
        record_.end_working_set_bytes = snapshot->working_set_bytes();
        record_.peak_working_set_bytes = std::max(*peak, record_.end_working_set_bytes);
        return true;
    }

    void finish(RunState state) { region_.header->state.store(state, std::memory_order_release); }

    bool run_range(std::size_t begin, std::size_t end)
    {
        for (std::size_t at = begin; at < end;) {
            const Instruction& instruction = region_.instructions[at];
            if (!run_one(instruction, at)) {
                return false;
            }
            at += 1 + instruction.length;
        }
        return true;
    }

    bool run_one(const Instruction& instruction, std::size_t at)
    {
        const bool starts_watch = instruction.timed && !watching_;
        const PhaseStart phase = instruction.phase == no_phase ? PhaseStart{} : enter_phase();
        if (starts_watch) {
            start_watch();
        }
        const bool completed = execute(instruction, at);
        if (starts_watch) {
            stop_watch();
        }
        if (instruction.phase != no_phase) {
            leave_phase(region_.phases[instruction.phase], phase);
        }
        return completed;
    }

    bool execute(const Instruction& instruction, std::size_t at)
    {
        switch (instruction.op) {
        case OpCode::alloc:
            return allocate(instruction);
        case OpCode::write:
            write(instruction);
            return true;
        case OpCode::binary:
            return compute(instruction);
        case OpCode::drop:
            drop(handles_[instruction.slot]);
            return true;
        case OpCode::collect:
            world_.heap.collect();
            return true;
        case OpCode::drain:
            drain();
            return true;
        case OpCode::sample:
            sample(instruction);
            return true;
        case OpCode::idle:
            clock_.sleep_for(nanoseconds{static_cast<std::int64_t>(instruction.count)});
            return true;
        case OpCode::repeat:
            for (std::uint64_t turn = 0; turn < instruction.count; ++turn) {
                if (!run_range(at + 1, at + 1 + instruction.length)) {
                    return false;
                }
            }
            return true;
        }
        return false;
    }

    bool allocate(const Instruction& instruction)
    {
        Handles& handles = handles_[instruction.slot];
        for (std::uint64_t i = 0; i < instruction.count; ++i) {
            auto made =
                array::Array::create(world_.heap, instruction.dtype, {instruction.shape.data(), instruction.dimensions},
                                     instruction.fill, instruction.touch);
            if (made.status != memory::AllocStatus::ok) {
                return refused(made.status, instruction);
            }
            handles.fresh[i] = std::move(made.array);
        }
        rebind(handles, instruction.count);
        handles.written = false;
        if (instruction.touch != model::Touch::none) {
            count_first_touch(handles);
        }
        return true;
    }

    bool compute(const Instruction& instruction)
    {
        Handles& result = handles_[instruction.slot];
        const Handles& left = handles_[instruction.left];
        const Handles& right = handles_[instruction.right];
        const std::size_t count = std::min(left.in_use, right.in_use);
        for (std::size_t i = 0; i < count; ++i) {
            auto made = array::binary(world_.heap, instruction.function, left.current[i], right.current[i]);
            if (made.status != memory::AllocStatus::ok) {
                return refused(made.status, instruction);
            }
            result.fresh[i] = std::move(made.array);
        }
        rebind(result, count);
        result.written = false;
        count_first_touch(result);
        return true;
    }

    // The names now mean the new arrays; only then do the old ones go, one by one, as an interpreter's list would.
    void rebind(Handles& handles, std::size_t count)
    {
        arrays_ += count;
        const std::size_t old = handles.in_use;
        handles.current.swap(handles.fresh);
        handles.in_use = count;
        for (std::size_t i = 0; i < old; ++i) {
            handles.fresh[i] = array::Array{};
        }
    }

    static void drop(Handles& handles)
    {
        for (std::size_t i = 0; i < handles.in_use; ++i) {
            handles.current[i] = array::Array{};
        }
        handles.in_use = 0;
    }

    void write(const Instruction& instruction)
    {
        Handles& handles = handles_[instruction.slot];
        for (std::size_t i = 0; i < handles.in_use; ++i) {
            array::touch(handles.current[i].data(), handles.current[i].bytes(), instruction.touch);
        }
        count_first_touch(handles);
    }

    void drain()
    {
        const nanoseconds before = clock_.now();
        world_.heap.drain();
        record_.drain_ns += (clock_.now() - before).count();
        ++record_.drains;
    }

    bool refused(memory::AllocStatus status, const Instruction& instruction)
    {
        std::uint64_t bytes = model::size_bytes(instruction.dtype);
        for (std::uint8_t i = 0; i < instruction.dimensions; ++i) {
            bytes *= instruction.shape[i];
        }
        record_.refused = status;
        record_.refused_bytes = instruction.op == OpCode::alloc ? bytes : 0;
        record_.refused_at_live_bytes = world_.counters.live_bytes.load(std::memory_order_relaxed);
        return false;
    }

    void count_first_touch(Handles& handles)
    {
        if (std::exchange(handles.written, true)) {
            return;
        }
        for (std::size_t i = 0; i < handles.in_use; ++i) {
            record_.pages_touched +=
                array::pages_spanned(handles.current[i].data(), handles.current[i].bytes(), page_bytes_);
        }
    }

    // What a sample costs is taken out of every time and fault count that encloses it.
    void sample(const Instruction& instruction)
    {
        const nanoseconds before = clock_.now();
        const nanoseconds cpu_before = clock_.process_cpu();
        const sys::FaultCounts faults_before = probe_.faults();
        const std::uint32_t index = region_.header->points.load(std::memory_order_relaxed);
        if (index < region_.points.size()) {
            fill_point(region_.points[index], instruction, before);
            region_.header->points.store(index + 1, std::memory_order_release);
        }
        const sys::FaultCounts faults_after = probe_.faults();
        excluded_.minor_faults += faults_after.minor - faults_before.minor;
        excluded_.major_faults += faults_after.major - faults_before.major;
        excluded_.cpu += clock_.process_cpu() - cpu_before;
        excluded_.wall += clock_.now() - before;
    }

    void fill_point(PointRecord& point, const Instruction& instruction, nanoseconds now)
    {
        const lifetime::DisciplineStats stats = world_.heap.stats();
        const sys::FaultCounts faults = faults_so_far();
        point.name = instruction.name;
        point.t_ns = (now - started_).count();
        point.live_bytes = world_.counters.live_bytes.load(std::memory_order_relaxed);
        point.floating_bytes = stats.floating_bytes;
        point.queue_depth = stats.queue_depth;
        point.minor_faults = faults.minor;
        point.major_faults = faults.major;
        if (const auto snapshot = probe_.snapshot()) {
            point.working_set_bytes = snapshot->working_set_bytes();
            point.huge_page_bytes = snapshot->anon_huge_bytes;
        }
    }

    [[nodiscard]] sys::FaultCounts faults_so_far() const
    {
        sys::FaultCounts now = probe_.faults();
        now.minor -= faults_at_start_.minor + excluded_.minor_faults;
        now.major -= faults_at_start_.major + excluded_.major_faults;
        return now;
    }

    void start_watch()
    {
        watching_ = true;
        watch_.arrays = arrays_;
        watch_.cpu = clock_.process_cpu() - excluded_.cpu;
        const sys::FaultCounts faults = faults_so_far();
        watch_.minor_faults = faults.minor;
        watch_.major_faults = faults.major;
        watch_.wall = clock_.now() - excluded_.wall;
    }

    void stop_watch()
    {
        const nanoseconds now = clock_.now() - excluded_.wall;
        const sys::FaultCounts faults = faults_so_far();
        const nanoseconds cpu = clock_.process_cpu() - excluded_.cpu;
        watching_ = false;
        record_.wall_ns += (now - watch_.wall).count();
        record_.cpu_ns += (cpu - watch_.cpu).count();
        record_.minor_faults += faults.minor - watch_.minor_faults;
        record_.major_faults += faults.major - watch_.major_faults;
        record_.timed_arrays += arrays_ - watch_.arrays;
    }

    [[nodiscard]] PhaseStart enter_phase() const
    {
        const sys::FaultCounts faults = faults_so_far();
        return {clock_.now() - excluded_.wall, faults.minor, faults.major};
    }

    void leave_phase(PhaseRecord& phase, const PhaseStart& start)
    {
        const nanoseconds now = clock_.now();
        const sys::FaultCounts faults = faults_so_far();
        if (phase.entered++ == 0) {
            phase.first_start_ns = (start.wall + excluded_.wall - started_).count();
        }
        phase.last_end_ns = (now - started_).count();
        phase.time_ns += (now - excluded_.wall - start.wall).count();
        phase.minor_faults += faults.minor - start.minor_faults;
        phase.major_faults += faults.major - start.major_faults;
    }

    const RunRegion& region_;
    RepetitionRecord& record_;
    World& world_;
    const sys::Clock& clock_;
    sys::ProcessProbe& probe_;
    std::uint64_t page_bytes_;

    std::vector<Handles> handles_;
    std::uint64_t arrays_{};
    bool watching_{};
    Reading watch_;
    Reading excluded_;
    nanoseconds started_{};
    sys::FaultCounts faults_at_start_;
    std::uint64_t allocations_before_{};
    std::uint64_t bytes_before_{};
    std::uint64_t collections_before_{};
};

}  // namespace

void run_repetition(const RunRegion& region, World& world, Environment environment)
{
    region.header->world.store(world.index, std::memory_order_relaxed);
    Interpreter{region, world, environment}.run();
}

}  // namespace memsweep::engine
