#include "core/engine/steps/interpreter.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/engine/steps/accounts.hpp"
#include "core/engine/steps/concat_calls.hpp"
#include "core/engine/steps/named_arrays.hpp"
#include "core/engine/steps/replays.hpp"
#include "core/engine/steps/step_operations.hpp"
#include "core/engine/steps/thread_pool.hpp"
#include "core/engine/steps/transfers.hpp"
#include "core/engine/steps/worker.hpp"
#include "core/model/specs.hpp"
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

// Whether what ended the repetition was the driver's refusal, which is then the reason.
bool refused_by_driver(const CaseMemory& memory, StepRecord& record)
{
    const bool for_memory =
        record.refused == memory::AllocStatus::out_of_memory || record.refused == memory::AllocStatus::no_device_memory;
    const std::string said = memory.runtime == nullptr ? std::string{} : memory.stack.driver_refusal();
    if (!for_memory || said.empty()) {
        return false;
    }
    write_text(said, record.device.trouble);
    return true;
}

class Interpreter {
  public:
    Interpreter(const RunRegion& region, CaseMemory& memory, Environment environment)
        : region_{region}, record_{region.header->record}, memory_{memory}, clock_{environment.clock},
          probe_{environment.probe}, stopwatch_{environment, memory, record_},
          accounts_{region, memory, probe_, stopwatch_}, arrays_{region, memory, record_.array_counts, true},
          steps_{environment, memory, arrays_, record_}, concat_calls_{region, memory, environment},
          thread_pool_{region, memory, environment}, replays_{region, memory}, transfers_{region, environment}
    {
        make_room();
        memory_.heap.reserve(region_.header->order.terms.reserved_blocks);
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
        const bool marked = region_.header->order.terms.marked;
        if (!marked) {
            stopwatch_.start();
        }
        const Flow flow = run({0, static_cast<std::uint32_t>(region_.instructions.size())});
        if (stopwatch_.running()) {
            stopwatch_.stop();
        }
        region_.header->state.store(RunState::counting, std::memory_order_release);
        const bool complete = accounts_.take_end();
        arrays_.report_broken_poison();
        transfers_.finish();
        const RunState reached = region_.header->record.transfers.failed ? RunState::transfer_failed
                                 : flow == Flow::refused                 ? refused_state()
                                                                         : RunState::finished;
        finish(complete ? reached : RunState::harness_failed);
    }

  private:
    // What scopes and throws need, of all instructions at once.
    void make_room()
    {
        std::size_t locals = 0;
        std::size_t throws = 0;
        for (const Instruction& one : region_.instructions) {
            throws += is<model::ThrowStep>(one) ? 1U : 0U;
            if (const auto* scope = std::get_if<Scope>(&one.operands)) {
                locals += static_cast<std::size_t>(std::ranges::count_if(
                    region_.body(scope->body), [](const Instruction& inner) { return bound_slot(inner) != no_slot; }));
            }
        }
        throws_reached_.resize(throws);
        locals_.resize(locals);
    }

    // Runs the code of an allocation, a touch, a drop and a reading once, in a memory of its own, so that the faults of
    // code pages, of lazily bound symbols and of the stack belong to the baseline too.
    void rehearse()
    {
        touch_stack();
        sys::populate_program();
        memory::Counters counters;
        model::MemorySpec unlimited = memory_.spec;
        unlimited.limit_bytes = 0;
        unlimited.fail_every = 0;
        CaseMemory stage{unlimited, model::ReleaseSpec{}, counters, 0, memory_.runtime};
        const bool touchable = model::touch_objection(unlimited.resource).empty();
        const std::array<std::uint64_t, 1> one_page{sys::page_size()};
        for (const model::Touch touch : {model::Touch::none, model::Touch::page, model::Touch::full}) {
            static_cast<void>(array::Array::create(stage.heap, model::DType::uint8, one_page, model::Fill::none,
                                                   touchable ? touch : model::Touch::none));
        }
        static_cast<void>(probe_.snapshot());
        static_cast<void>(probe_.peak_bytes());
        static_cast<void>(stopwatch_.kernel_so_far());
        static_cast<void>(clock_.process_cpu());
        static_cast<void>(clock_.now());
        record_.counts = {};
        std::ranges::fill(region_.points, PointRecord{});
        std::ranges::fill(region_.phases, PhaseRecord{});
        std::ranges::fill(region_.slot_records, SlotRecord{});
        std::ranges::fill(region_.call_times_ns, 0);
    }

    void finish(RunState state) { region_.header->state.store(state, std::memory_order_release); }

    Flow run(const Body& body, std::uint64_t times = 1)
    {
        const Instruction* const begin = region_.instructions.data() + body.begin;
        const Instruction* const end = region_.instructions.data() + body.end;
        for (std::uint64_t turn = 0; turn < times; ++turn) {
            for (const Instruction* one = begin; one != end; one += one->length) {
                if (const Flow flow = run_one(*one); flow != Flow::done) [[unlikely]] {
                    return flow;
                }
            }
        }
        return Flow::done;
    }

    Flow run_one(const Instruction& instruction)
    {
        return instruction.watched ? run_watched(instruction) : operate(instruction);
    }

    // The operations that are quicker than finding them among all come first. A call of its own would add 34
    // instructions to the 428 of an allocation and its drop (callgrind, benchmarks/instructions.py).
    [[gnu::always_inline]] Flow operate(const Instruction& instruction)
    {
        if (const auto* const alloc = std::get_if<Alloc>(&instruction.operands)) {
            return flow_of(arrays_.execute(*alloc));
        }
        if (const auto* const drop = std::get_if<model::Drop<SlotIndex>>(&instruction.operands)) {
            arrays_.execute(*drop);
            return Flow::done;
        }
        return operate_other(instruction);
    }

    [[gnu::noinline]] Flow operate_other(const Instruction& instruction)
    {
        return std::visit([this](const auto& operands) { return execute(operands); }, instruction.operands);
    }

    // With what surrounds the operation: the clock, a phase, the policy of trims.
    [[gnu::noinline]] Flow run_watched(const Instruction& instruction)
    {
        const bool starts_watch = instruction.timed && !stopwatch_.running();
        const auto phase = instruction.phase == no_phase ? Stopwatch::PhaseStart{} : stopwatch_.enter_phase();
        if (starts_watch) {
            stopwatch_.start();
        }
        if (!is<model::SampleStep>(instruction)) {
            enforce_limit();
        }
        const Flow flow = operate(instruction);
        if (starts_watch) {
            stopwatch_.stop();
        }
        if (instruction.phase != no_phase) {
            stopwatch_.leave_phase(region_.phases[instruction.phase], phase);
        }
        return flow;
    }

    Flow execute(const Concat& concat)
    {
        const Refusal refusal = concat_calls_.run(concat, stopwatch_, [this] { enforce_limit(); });
        if (refusal.status != memory::AllocStatus::ok) {
            return refused(refusal);
        }
        if (concat.out != no_slot) {
            Handles& out = arrays_[concat.out];
            out.current.front() = concat_calls_.out(concat);
            out.in_use = 1;
            out.written = true;
        }
        return Flow::done;
    }

    Flow execute(const Transfer& transfer) { return transfers_.run(transfer) ? Flow::done : Flow::refused; }

    Flow execute(const Sample& sample)
    {
        accounts_.sample(sample);
        return Flow::done;
    }

    Flow execute(const Repeat& repeat) { return run(repeat.body, repeat.times); }

    // Names that were free when the scope began end with it. Going out of scope is no manual free.
    Flow execute(const Scope& scope)
    {
        const std::size_t first_local = locals_in_use_;
        for (const Instruction& inner : region_.body(scope.body)) {
            if (const SlotIndex slot = bound_slot(inner); slot != no_slot && arrays_[slot].in_use == 0) {
                locals_[locals_in_use_++] = slot;
            }
        }
        const std::size_t end = locals_in_use_;
        memory_.heap.enter_scope();
        const Flow flow = run(scope.body);
        for (std::size_t i = first_local; i < end; ++i) {
            arrays_[locals_[i]].forget();
        }
        locals_in_use_ = first_local;
        memory_.heap.leave_scope(flow == Flow::thrown);
        return flow == Flow::thrown ? Flow::done : flow;
    }

    // Whose the arrays of a block are is not told apart between its names: the tag is one for all threads.
    Flow execute(const Parallel& parallel)
    {
        for (const Instruction& one : region_.body(parallel.body)) {
            if (const SlotIndex slot = bound_slot(one); slot != no_slot) {
                memory_.heap.tag_next(slot);
                break;
            }
        }
        return flow_of(thread_pool_.run(parallel, record_));
    }

    Flow execute(const Throw& one)
    {
        return ++throws_reached_[one.number] % one.every == 0 ? Flow::thrown : Flow::done;
    }

    Flow execute(const Replay& replay)
    {
        const auto before = replays_.repeats(replay) ? std::optional{accounts_.counts()} : std::nullopt;
        const trace::ReplayRun run = replays_.run(
            replay, [&] { accounts_.look_at_replay(nanoseconds{replay.settle_ns}, replay.gives_back, clock_); });
        if (before) {
            accounts_.leave_out_since(*before);
        }
        return run.refused ? refused({memory::AllocStatus::out_of_memory, run.refused_bytes}) : Flow::done;
    }

    // All other operations are those of the named arrays, or of steps that need nothing prepared.
    template <typename Operands>
    Flow execute(const Operands& operands)
    {
        if constexpr (requires { arrays_.execute(operands); }) {
            return done_by(arrays_, operands);
        } else {
            return done_by(steps_, operands);
        }
    }

    template <typename Executor, typename Operands>
    Flow done_by(Executor& executor, const Operands& operands)
    {
        if constexpr (std::is_void_v<decltype(executor.execute(operands))>) {
            executor.execute(operands);
            return Flow::done;
        } else {
            return flow_of(executor.execute(operands));
        }
    }

    void enforce_limit()
    {
        steps_.enforce_limit(stopwatch_, [this](const auto& trim) {
            concat_calls_.each_array(trim);
            arrays_.each(trim);
        });
    }

    Flow flow_of(const Refusal& refusal)
    {
        return refusal.status == memory::AllocStatus::ok ? Flow::done : refused(refusal);
    }

    [[gnu::noinline]] Flow refused(const Refusal& refusal)
    {
        record_.refused = refusal.status;
        record_.refused_bytes = refusal.bytes;
        record_.refused_at_live_bytes =
            memory_.spec.accounting == model::Accounting::off ? not_counted : memory_.counters.live_bytes();
        record_.refused_after_arrays = record_.array_counts.made + refusal.made;
        return Flow::refused;
    }

    RunState refused_state() { return refused_by_driver(memory_, record_) ? RunState::unmet : RunState::refused; }

    const RunRegion& region_;
    StepRecord& record_;
    CaseMemory& memory_;
    const sys::Clock& clock_;
    sys::ProcessProbe& probe_;
    Stopwatch stopwatch_;
    Accounts accounts_;
    NamedArrays arrays_;
    StepOperations steps_;
    ConcatCalls concat_calls_;
    ThreadPool thread_pool_;
    Replays replays_;
    Transfers transfers_;
    bool ready_{};
    bool has_transfers_{};

    std::vector<std::uint64_t> throws_reached_;  // by Throw::number
    std::vector<SlotIndex> locals_;              // a stack: the names that end with the scopes being run
    std::size_t locals_in_use_{};
};

}  // namespace

void run_repetition(const RunRegion& region, CaseMemory& memory, Environment environment)
{
    region.header->counters.store(memory.index, std::memory_order_relaxed);
    if (region.header->order.drain_first) {
        memory.heap.collect();
        memory.heap.drain();
    }
    Interpreter{region, memory, environment}.run();
}

}  // namespace memsweep::engine
