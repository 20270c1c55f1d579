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
#include "core/engine/accounts.hpp"
#include "core/engine/concat_calls.hpp"
#include "core/engine/crew.hpp"
#include "core/engine/driver_memory.hpp"
#include "core/engine/handles.hpp"
#include "core/engine/paging.hpp"
#include "core/engine/replays.hpp"
#include "core/engine/stopwatch.hpp"
#include "core/engine/transfers.hpp"
#include "core/engine/trimming.hpp"
#include "core/model/driver_memory.hpp"
#include "core/sys/allocator_trim.hpp"
#include "core/sys/page_ops.hpp"

namespace memsweep::engine {
namespace {

using std::chrono::nanoseconds;

// How a run of instructions ended.
enum class Flow { done, refused, thrown };

// Deeper than the calls of a repetition reach.
constexpr std::size_t stack_bytes = 64 << 10;

[[gnu::noinline]] void touch_stack()
{
    std::array<volatile char, stack_bytes> below;
    for (std::size_t at = 0; at < below.size(); at += 4096) {
        below[at] = 0;
    }
}

class Interpreter {
  public:
    Interpreter(const RunRegion& region, World& world, Environment environment)
        : region_{region}, record_{region.header->record}, world_{world}, clock_{environment.clock},
          probe_{environment.probe}, stopwatch_{environment, world, record_},
          accounts_{region, world, probe_, stopwatch_}, accesses_{world, region.slot_records},
          trimming_{environment, world.memory.trim, record_}, paging_{environment, record_},
          concat_calls_{region, world, environment}, crew_{region, world, environment}, replays_{region, world},
          transfers_{region, environment}
    {
        make_handles();
        world_.heap.reserve(region_.header->order.reserved_blocks);
        rehearse();
        ready_ = replays_.prepare();
        has_transfers_ = transfers_.prepare();
    }

    void run()
    {
        if (!has_transfers_) {
            return finish(region_.header->record.transfers.unmet ? RunState::unmet : RunState::transfer_failed);
        }
        if (!ready_ || !accounts_.take_baseline()) {
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
        const bool complete = accounts_.take_end();
        accesses_.report_broken_poison();
        transfers_.finish();
        const RunState reached = region_.header->record.transfers.failed ? RunState::transfer_failed
                                 : flow == Flow::refused                 ? refused_state()
                                                                         : RunState::finished;
        finish(complete ? reached : RunState::harness_failed);
    }

  private:
    // Sized and constructed now, so that the pages they lie on belong to the baseline.
    void make_handles()
    {
        handles_.resize(region_.slots.size());
        for (std::size_t i = 0; i < handles_.size(); ++i) {
            handles_[i].reserve(region_.slots[i].capacity);
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

    static bool makes_arrays(const Instruction& one)
    {
        return one.op == OpCode::alloc || one.op == OpCode::binary || one.op == OpCode::view;
    }

    // Runs the code of an allocation, a touch, a drop and a reading once, in a world of its own, so that the faults of
    // code pages, of lazily bound symbols and of the stack belong to the baseline too.
    void rehearse()
    {
        touch_stack();
        memory::Counters counters;
        model::MemorySpec unlimited = world_.memory;
        unlimited.limit_bytes = 0;
        unlimited.fail_every = 0;
        World stage{unlimited, model::ReleaseSpec{}, counters, 0, world_.runtime};
        const bool touchable = model::touch_objection(unlimited.resource).empty();
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
        std::ranges::fill(region_.call_times_ns, 0);
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
        if (instruction.op != OpCode::sample) {
            enforce_limit();
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
        case OpCode::concat:
            return concatenate(instruction);
        case OpCode::view:
            return look_at(instruction);
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
        case OpCode::trim:
            trim(handles_[instruction.slot], instruction.how);
            return Flow::done;
        case OpCode::prefetch:
            prefetch(handles_[instruction.slot], instruction.prefetch);
            return Flow::done;
        case OpCode::migrate:
            return paged(paging_.migrate(handles_[instruction.slot], static_cast<std::uint32_t>(instruction.count)), 0);
        case OpCode::stream:
            paging_.stream(handles_[instruction.slot], instruction);
            count_first_touch(handles_[instruction.slot]);
            return Flow::done;
        case OpCode::share:
            return paged(paging_.share(instruction), instruction.shape[0]);
        case OpCode::transfer:
            return transfers_.run(instruction) ? Flow::done : Flow::refused;
        case OpCode::sample:
            accounts_.sample(instruction);
            return Flow::done;
        case OpCode::idle:
            clock_.sleep_for(nanoseconds{static_cast<std::int64_t>(instruction.count)});
            return Flow::done;
        case OpCode::repeat:
            return repeat(instruction, at);
        case OpCode::scope:
            return run_scope(instruction, at);
        case OpCode::parallel:
            return run_parallel(instruction, at);
        case OpCode::pass:  // only in a block
            return Flow::done;
        case OpCode::replay:
            return replay(instruction);
        case OpCode::purge:
            purge();
            return Flow::done;
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

    // Whose the arrays of a block are is not told apart between its names: the tag is one for all threads.
    Flow run_parallel(const Instruction& instruction, std::size_t at)
    {
        const auto body = body_of(instruction, at);
        for (const Instruction& one : body) {
            if (makes_arrays(one)) {
                world_.heap.tag_next(one.slot);
                break;
            }
        }
        const Crew::Done done = crew_.run(instruction, body, record_.checksum);
        arrays_ += done.arrays;
        record_.pages_touched += done.pages_touched;
        record_.passed_arrays += done.passed;
        record_.reads += done.reads;
        record_.prefetched_bytes += done.prefetched_bytes;
        record_.prefetches_refused += done.prefetches_refused;
        return done.status == memory::AllocStatus::ok ? Flow::done : refused(done.status, done.refused_bytes, 0);
    }

    Flow paged(memory::AllocStatus status, std::uint64_t bytes)
    {
        return status == memory::AllocStatus::ok ? Flow::done : refused(status, bytes, 0);
    }

    void prefetch(Handles& handles, model::PrefetchHow how)
    {
        paging_.prefetch(handles, how);
        if (how == model::PrefetchHow::populate_write) {
            count_first_touch(handles);
        }
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
            handles_[locals_[i]].forget();
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
                return refused(made.status, array_bytes(instruction), i);
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
                return refused(made.status, left.current[i].bytes(), i);
            }
            result.fresh[made_count++] = std::move(made.array);
        }
        rebind(result, made_count);
        result.written = false;
        count_first_touch(result);
        return Flow::done;
    }

    Flow concatenate(const Instruction& instruction)
    {
        const ConcatCalls::Done done = concat_calls_.run(instruction, stopwatch_, [this] { enforce_limit(); });
        arrays_ += done.arrays;
        if (done.status != memory::AllocStatus::ok) {
            return refused(done.status, done.refused_bytes, 0);
        }
        if (instruction.out != no_slot) {
            Handles& out = handles_[instruction.out];
            out.current.front() = concat_calls_.out(instruction);
            out.in_use = 1;
            out.written = true;
        }
        return Flow::done;
    }

    Flow replay(const Instruction& instruction)
    {
        const trace::ReplayRun run = replays_.run(instruction);
        return run.refused ? refused(memory::AllocStatus::out_of_memory, run.refused_bytes, 0) : Flow::done;
    }

    // The pool first: what it gives back lies idle in the allocator then.
    void purge()
    {
        if (memory::Pool* const pool = world_.stack.pool(); pool != nullptr) {
            pool->trim(0);
        }
        sys::trim_allocator();
    }

    Flow look_at(const Instruction& instruction)
    {
        Handles& result = handles_[instruction.slot];
        const Handles& looked_at = handles_[instruction.left];
        const bool copies = instruction.count != 0;
        std::size_t made_count = 0;
        world_.heap.tag_next(instruction.slot);
        for (std::size_t i = 0; i < looked_at.in_use; ++i) {
            if (!accesses_.allowed(looked_at.current[i], instruction.left)) {
                continue;
            }
            array::Array rows = looked_at.current[i].slice(0, static_cast<std::int64_t>(instruction.shape[0]),
                                                           static_cast<std::int64_t>(instruction.shape[1]));
            const std::uint64_t rows_bytes = rows.bytes();
            auto made = copies ? rows.copy(world_.heap) : array::Array::Result{std::move(rows)};
            if (made.status != memory::AllocStatus::ok) {
                return refused(made.status, rows_bytes, i);
            }
            result.fresh[made_count++] = std::move(made.array);
        }
        rebind(result, made_count);
        result.written = !copies;
        if (copies) {
            count_first_touch(result);
        }
        return Flow::done;
    }

    void rebind(Handles& handles, std::size_t count)
    {
        arrays_ += count;
        handles.rebind(count);
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
        handles.forget();
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

    void trim(const Handles& handles, model::TrimHow how)
    {
        for (std::size_t i = 0; i < handles.in_use; ++i) {
            trimming_.trim(handles.current[i], how);
        }
    }

    void enforce_limit()
    {
        trimming_.enforce(stopwatch_, [this](const auto& trim) { each_reachable(trim); });
    }

    template <typename Visit>
    void each_reachable(const Visit& visit) const
    {
        concat_calls_.each_array(visit);
        for (const Handles& handles : handles_) {
            for (std::size_t i = 0; i < handles.in_use; ++i) {
                visit(handles.current[i]);
            }
        }
    }

    void drain()
    {
        const nanoseconds before = clock_.now();
        world_.heap.drain();
        record_.drain_ns += (clock_.now() - before).count();
        ++record_.drains;
    }

    static std::uint64_t array_bytes(const Instruction& instruction)
    {
        std::uint64_t bytes = model::size_bytes(instruction.dtype);
        for (std::uint8_t i = 0; i < instruction.dimensions; ++i) {
            bytes *= instruction.shape[i];
        }
        return bytes;
    }

    // `made`: arrays that no name has yet.
    Flow refused(memory::AllocStatus status, std::uint64_t bytes, std::uint64_t made)
    {
        record_.refused = status;
        record_.refused_bytes = bytes;
        record_.refused_at_live_bytes = world_.counters.live_bytes();
        record_.refused_after_arrays = arrays_ + made;
        return Flow::refused;
    }

    RunState refused_state() { return refused_by_driver(world_, record_) ? RunState::unmet : RunState::refused; }

    void count_first_touch(Handles& handles) { record_.pages_touched += handles.first_touch(page_bytes_); }

    const RunRegion& region_;
    RepetitionRecord& record_;
    World& world_;
    const sys::Clock& clock_;
    sys::ProcessProbe& probe_;
    Stopwatch stopwatch_;
    Accounts accounts_;
    Accesses accesses_;
    Trimming trimming_;
    Paging paging_;
    ConcatCalls concat_calls_;
    Crew crew_;
    Replays replays_;
    Transfers transfers_;
    bool ready_{};
    bool has_transfers_{};
    std::uint64_t page_bytes_{sys::page_size()};

    std::vector<Handles> handles_;
    std::vector<std::uint64_t> throws_reached_;  // per instruction
    std::vector<std::uint16_t> locals_;          // a stack: the names that end with the scopes being run
    std::size_t locals_in_use_{};
    std::uint64_t arrays_{};
};

}  // namespace

void run_repetition(const RunRegion& region, World& world, Environment environment)
{
    region.header->world.store(world.index, std::memory_order_relaxed);
    if (region.header->order.drain_first) {
        world.heap.collect();
        world.heap.drain();
    }
    Interpreter{region, world, environment}.run();
}

}  // namespace memsweep::engine
