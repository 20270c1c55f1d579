#include "core/engine/steps/heap_replay.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/trace/replay/replay_program.hpp"

namespace memsweep::engine {

base::Expected<measure::ReplayedHeap> replay_heap(Executor& workers, const HeapReplayOrder& order)
{
    const auto* const words = reinterpret_cast<const std::uint64_t*>(order.trace->data<std::byte>());
    const auto replayed = MEMSWEEP_TRY(trace::view({words, order.trace->size() / sizeof(std::uint64_t)}));
    if (replayed.threads.empty()) {  // nothing is left of it
        return measure::ReplayedHeap{};
    }
    CompiledCase compiled{.allocator = order.allocator, .work = StepProgram{}};
    StepProgram& program = compiled.steps();
    program.release.mode = model::ReleaseMode::immediate;
    program.replays.push_back(order.trace);
    program.instructions.push_back(
        {.operands = Replay{.touch = model::ReplayTouch::recorded, .gives_back = true}, .timed = true});
    std::vector<std::int64_t> held;
    std::vector<std::int64_t> given_back;
    for (std::uint32_t run = 0; run < std::max(order.runs, 1U); ++run) {
        const Attempt attempt = workers.run(compiled, {.timeout = order.timeout}, [](int /*pid*/) {});
        if (attempt.ending != Ending::finished) {
            const bool is_interrupted = attempt.ending == Ending::interrupted;
            return base::fail(is_interrupted ? base::ErrorCode::interrupted : base::ErrorCode::os,
                              is_interrupted           ? "the replay was interrupted"
                              : attempt.reason.empty() ? "the replay was refused memory"
                                                       : "the replay failed: " + attempt.reason);
        }
        const ReplayRecord& record = attempt.steps().record.replay;
        if (!record.has_ended || !record.was_asked) {
            return base::fail(base::ErrorCode::os, "the memory of the replaying process could not be read");
        }
        const auto above = [&](std::uint64_t bytes) {
            return static_cast<std::int64_t>(bytes) - static_cast<std::int64_t>(record.anonymous_before_bytes);
        };
        held.push_back(above(record.anonymous_end_bytes));
        given_back.push_back(above(record.anonymous_given_back_bytes));
    }
    return measure::ReplayedHeap{measure::span_of(std::move(held)), measure::span_of(std::move(given_back))};
}

}  // namespace memsweep::engine
