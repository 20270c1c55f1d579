#include "core/engine/interpreter.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "core/array/array.hpp"
#include "core/array/binary.hpp"
#include "core/array/checksum.hpp"
#include "core/array/touch.hpp"
#include "core/engine/accesses.hpp"
#include "core/engine/stopwatch.hpp"
#include "core/lifetime/clock.hpp"
#include "core/sys/page_ops.hpp"

namespace memsweep::engine {
namespace {

using std::chrono::nanoseconds;

// How a run of instructions ended.
enum class Flow { done, refused, thrown };

class Interpreter {
  public:
    Interpreter(const RunRegion& region, World& world, Environment environment)
        : region_{region}, record_{region.header->record}, world_{world}, clock_{environment.clock},
          probe_{environment.probe}, stopwatch_{environment, record_}, accesses_{world, region.slot_records},
          page_bytes_{sys::page_size()}
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
            stopwatch_.start(arrays_);
        }
        const Flow flow = run_range(0, region_.instructions.size());
        if (stopwatch_.running()) {
            stopwatch_.stop(arrays_);
        }
        finish(take_end() ? (flow == Flow::refused ? RunState::refused : RunState::finished)
                          : RunState::harness_failed);
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
        throws_reached_.resize(region_.instructions.size());
        std::size_t locals = 0;  // of all scopes at once
        for (std::size_t at = 0; at < region_.instructions.size(); ++at) {
            if (const Instruction& one = region_.instructions[at]; one.op == OpCode::scope) {
                const auto body = body_of(one, at);
                locals += static_cast<std::size_t>(std::ranges::count_if(body, makes_arrays));
            }
        }
        locals_.resize(locals);
    }

    [[nodiscard]] std::span<const Instruction> body_of(const Instruction& instruction, std::size_t at) const
    {
        return std::span<const Instruction>{region_.instructions}.subspan(at + 1, instruction.length);
    }

    static bool makes_arrays(const Instruction& one) { return one.op == OpCode::alloc || one.op == OpCode::binary; }

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
        static_cast<void>(stopwatch_.faults_so_far());
        static_cast<void>(clock_.process_cpu());
        static_cast<void>(clock_.now());
        std::ranges::fill(region_.points, PointRecord{});
        std::ranges::fill(region_.phases, PhaseRecord{});
        std::ranges::fill(region_.slot_records, SlotRecord{});
    }

    bool take_baseline()
    {
        world_.counters.live_bytes_peak.store(world_.counters.live_bytes.load(std::memory_order_relaxed),
                                              std::memory_order_relaxed);
        world_.heap.reset_counts();
        allocations_before_ = world_.counters.allocations.load(std::memory_order_relaxed);
        bytes_before_ = world_.counters.allocated_bytes.load(std::memory_order_relaxed);
        strays_before_ = world_.heap.stray_releases();
        probe_.reset_peak();
        const auto snapshot = probe_.snapshot();
        if (!snapshot) {
            return false;
        }
        record_.baseline_working_set_bytes = snapshot->working_set_bytes();
        record_.baseline_huge_page_bytes = snapshot->anon_huge_bytes;
        stopwatch_.begin();
        region_.header->started_ns.store(stopwatch_.started().count(), std::memory_order_relaxed);
        region_.header->state.store(RunState::running, std::memory_order_release);
        return true;
    }

    bool take_end()
    {
        record_.all_minor_faults = stopwatch_.faults_so_far().minor;
        const auto peak = probe_.peak_bytes();
        const auto snapshot = probe_.snapshot();
        record_.live_bytes_peak = world_.counters.live_bytes_peak.load(std::memory_order_relaxed);
        record_.arrays = world_.counters.allocations.load(std::memory_order_relaxed) - allocations_before_;
        record_.allocated_bytes = world_.counters.allocated_bytes.load(std::memory_order_relaxed) - bytes_before_;
        record_.discipline = world_.heap.stats();
        record_.stray_releases = world_.heap.stray_releases() - strays_before_;
        count_outstanding();
        accesses_.report_broken_poison();
        if (!snapshot || !peak) {
            return false;
        }
        record_.end_working_set_bytes = snapshot->working_set_bytes();
        record_.peak_working_set_bytes = std::max(*peak, record_.end_working_set_bytes);
        return true;
    }

    void count_outstanding()
    {
        const std::int64_t now = lifetime::steady_ns();
        world_.heap.each_outstanding([&](const lifetime::Heap::Outstanding& one) {
            ++record_.outstanding;
            if (!one.reachable && one.tag < region_.slot_records.size()) {
                SlotRecord& slot = region_.slot_records[one.tag];
                ++slot.unreleased;
                slot.unreleased_bytes += one.bytes;
                slot.oldest_ns = std::max(slot.oldest_ns, now - one.since_ns);
            }
        });
    }

    void finish(RunState state) { region_.header->state.store(state, std::memory_order_release); }

    Flow run_range(std::size_t begin, std::size_t end)
    {
        for (std::size_t at = begin; at < end;) {
            const Instruction& instruction = region_.instructions[at];
            if (const Flow flow = run_one(instruction, at); flow != Flow::done) {
                return flow;
            }
            at += 1 + instruction.length;
        }
        return Flow::done;
    }

    Flow run_one(const Instruction& instruction, std::size_t at)
    {
        const bool starts_watch = instruction.timed && !stopwatch_.running();
        const auto phase = instruction.phase == no_phase ? Stopwatch::PhaseStart{} : stopwatch_.enter_phase();
        if (starts_watch) {
            stopwatch_.start(arrays_);
        }
        const Flow flow = execute(instruction, at);
        if (starts_watch) {
            stopwatch_.stop(arrays_);
        }
        if (instruction.phase != no_phase) {
            stopwatch_.leave_phase(region_.phases[instruction.phase], phase);
        }
        return flow;
    }

    Flow execute(const Instruction& instruction, std::size_t at)
    {
        switch (instruction.op) {
        case OpCode::alloc:
            return allocate(instruction);
        case OpCode::write:
            write(instruction);
            return Flow::done;
        case OpCode::read:
            read(handles_[instruction.slot], instruction.slot);
            return Flow::done;
        case OpCode::binary:
            return compute(instruction);
        case OpCode::free:
            free_by_hand(handles_[instruction.slot], instruction.slot);
            return Flow::done;
        case OpCode::release:
            release_strays(handles_[instruction.slot], instruction.slot);
            return Flow::done;
        case OpCode::drop:
            drop(handles_[instruction.slot], instruction.slot);
            return Flow::done;
        case OpCode::collect:
            world_.heap.collect();
            return Flow::done;
        case OpCode::drain:
            drain();
            return Flow::done;
        case OpCode::sample:
            sample(instruction);
            return Flow::done;
        case OpCode::idle:
            clock_.sleep_for(nanoseconds{static_cast<std::int64_t>(instruction.count)});
            return Flow::done;
        case OpCode::repeat:
            return repeat(instruction, at);
        case OpCode::scope:
            return run_scope(instruction, at);
        case OpCode::leave_by_exception:
            return ++throws_reached_[at] % instruction.count == 0 ? Flow::thrown : Flow::done;
        }
        return Flow::done;
    }

    Flow repeat(const Instruction& instruction, std::size_t at)
    {
        for (std::uint64_t turn = 0; turn < instruction.count; ++turn) {
            if (const Flow flow = run_range(at + 1, at + 1 + instruction.length); flow != Flow::done) {
                return flow;
            }
        }
        return Flow::done;
    }

    // Names that were free when the scope began end with it. Going out of scope is no manual free.
    Flow run_scope(const Instruction& instruction, std::size_t at)
    {
        const std::size_t first_local = locals_in_use_;
        for (const Instruction& inner : body_of(instruction, at)) {
            if (makes_arrays(inner) && handles_[inner.slot].in_use == 0) {
                locals_[locals_in_use_++] = inner.slot;
            }
        }
        const std::size_t end = locals_in_use_;
        world_.heap.enter_scope();
        const Flow flow = run_range(at + 1, at + 1 + instruction.length);
        for (std::size_t i = first_local; i < end; ++i) {
            forget(handles_[locals_[i]]);
        }
        locals_in_use_ = first_local;
        world_.heap.leave_scope(flow == Flow::thrown);
        return flow == Flow::thrown ? Flow::done : flow;
    }

    Flow allocate(const Instruction& instruction)
    {
        Handles& handles = handles_[instruction.slot];
        world_.heap.tag_next(instruction.slot);
        for (std::uint64_t i = 0; i < instruction.count; ++i) {
            auto made =
                array::Array::create(world_.heap, instruction.dtype, {instruction.shape.data(), instruction.dimensions},
                                     instruction.fill, instruction.touch);
            if (made.status != memory::AllocStatus::ok) {
                return refused(made.status, instruction, i);
            }
            handles.fresh[i] = std::move(made.array);
        }
        rebind(handles, instruction.count);
        handles.written = false;
        if (instruction.touch != model::Touch::none) {
            count_first_touch(handles);
        }
        return Flow::done;
    }

    Flow compute(const Instruction& instruction)
    {
        Handles& result = handles_[instruction.slot];
        const Handles& left = handles_[instruction.left];
        const Handles& right = handles_[instruction.right];
        const std::size_t count = std::min(left.in_use, right.in_use);
        std::size_t made_count = 0;
        world_.heap.tag_next(instruction.slot);
        for (std::size_t i = 0; i < count; ++i) {
            if (!accesses_.allowed(left.current[i], instruction.left) ||
                !accesses_.allowed(right.current[i], instruction.right)) {
                continue;
            }
            auto made = array::binary(world_.heap, instruction.function, left.current[i], right.current[i]);
            if (made.status != memory::AllocStatus::ok) {
                return refused(made.status, instruction, i);
            }
            result.fresh[made_count++] = std::move(made.array);
        }
        rebind(result, made_count);
        result.written = false;
        count_first_touch(result);
        return Flow::done;
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

    // Where the program frees by hand, it does so before it drops.
    void drop(Handles& handles, std::uint16_t slot)
    {
        if (world_.frees_manually) {
            for (std::size_t i = 0; i < handles.in_use; ++i) {
                if (!handles.current[i].is_freed()) {
                    accesses_.free(handles.current[i], slot);
                }
            }
        }
        accesses_.about_to_release(slot);
        forget(handles);
    }

    static void forget(Handles& handles)
    {
        for (std::size_t i = 0; i < handles.in_use; ++i) {
            handles.current[i] = array::Array{};
        }
        handles.in_use = 0;
    }

    void free_by_hand(Handles& handles, std::uint16_t slot)
    {
        for (std::size_t i = 0; i < handles.in_use; ++i) {
            accesses_.free(handles.current[i], slot);
        }
    }

    void release_strays(const Handles& handles, std::uint16_t slot)
    {
        for (std::size_t i = 0; i < handles.in_use; ++i) {
            accesses_.release_stray(handles.current[i], slot);
        }
    }

    void write(const Instruction& instruction)
    {
        Handles& handles = handles_[instruction.slot];
        for (std::size_t i = 0; i < handles.in_use; ++i) {
            array::Array& one = handles.current[i];
            accesses_.run(one, instruction.slot, instruction.count,
                          [&] { array::touch(one.data(), one.bytes() + instruction.count, instruction.touch); });
        }
        count_first_touch(handles);
    }

    void read(Handles& handles, std::uint16_t slot)
    {
        for (std::size_t i = 0; i < handles.in_use; ++i) {
            array::Array& one = handles.current[i];
            std::uint64_t sum = 0;
            accesses_.run(one, slot, 0, [&] { sum = array::checksum(one.data(), one.bytes()); });
            accesses_.look_for_poison(one, slot);
            record_.checksum = array::chained(record_.checksum, sum);
            ++record_.reads;
        }
    }

    void drain()
    {
        const nanoseconds before = clock_.now();
        world_.heap.drain();
        record_.drain_ns += (clock_.now() - before).count();
        ++record_.drains;
    }

    Flow refused(memory::AllocStatus status, const Instruction& instruction, std::uint64_t made)
    {
        std::uint64_t bytes = model::size_bytes(instruction.dtype);
        for (std::uint8_t i = 0; i < instruction.dimensions; ++i) {
            bytes *= instruction.shape[i];
        }
        record_.refused = status;
        record_.refused_bytes = instruction.op == OpCode::alloc ? bytes : 0;
        record_.refused_at_live_bytes = world_.counters.live_bytes.load(std::memory_order_relaxed);
        record_.refused_after_arrays = arrays_ + made;
        return Flow::refused;
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
        const Stopwatch::Pause pause = stopwatch_.pause();
        const std::uint32_t index = region_.header->points.load(std::memory_order_relaxed);
        if (index < region_.points.size()) {
            fill_point(region_.points[index], instruction, pause.wall);
            region_.header->points.store(index + 1, std::memory_order_release);
        }
        stopwatch_.resume(pause);
    }

    void fill_point(PointRecord& point, const Instruction& instruction, nanoseconds now)
    {
        const lifetime::DisciplineStats stats = world_.heap.stats();
        const sys::FaultCounts faults = stopwatch_.faults_so_far();
        point.name = instruction.name;
        point.t_ns = (now - stopwatch_.started()).count();
        point.live_bytes = world_.counters.live_bytes.load(std::memory_order_relaxed);
        point.floating_bytes = stats.floating_bytes;
        point.queue_depth = stats.queue_depth;
        point.idle_bytes = stats.idle_bytes;
        point.minor_faults = faults.minor;
        point.major_faults = faults.major;
        if (instruction.count != 0) {
            return;
        }
        if (const auto snapshot = probe_.snapshot()) {
            point.working_set_bytes = snapshot->working_set_bytes();
            point.huge_page_bytes = snapshot->anon_huge_bytes;
        }
    }

    const RunRegion& region_;
    RepetitionRecord& record_;
    World& world_;
    const sys::Clock& clock_;
    sys::ProcessProbe& probe_;
    Stopwatch stopwatch_;
    Accesses accesses_;
    std::uint64_t page_bytes_;

    std::vector<Handles> handles_;
    std::vector<std::uint64_t> throws_reached_;  // per instruction
    std::vector<std::uint16_t> locals_;          // a stack: the names that end with the scopes being run
    std::size_t locals_in_use_{};
    std::uint64_t arrays_{};
    std::uint64_t allocations_before_{};
    std::uint64_t bytes_before_{};
    std::uint64_t strays_before_{};
};

}  // namespace

void run_repetition(const RunRegion& region, World& world, Environment environment)
{
    region.header->world.store(world.index, std::memory_order_relaxed);
    Interpreter{region, world, environment}.run();
}

}  // namespace memsweep::engine
