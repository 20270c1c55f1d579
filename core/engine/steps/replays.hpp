// The replay steps of one repetition. They replay compiled traces on the case's memory.
//
// In release mode `immediate` the calls go straight to malloc, or to the case's resource. The null resource does
// nothing, so the time of a replay on it is the replayer's own time. Any other release mode gives every block a handle.
// Units    bytes, nanoseconds, counts.
// Cost     that of trace::Replayer. The replayer's own memory is mapped and faulted in before the baseline, that is,
//          before the first step.
// Errors   prepare() returns false if a compiled trace cannot be mapped or read.
#pragma once

#include <deque>
#include <functional>

#include "core/engine/steps/environment.hpp"
#include "core/engine/steps/run_region.hpp"
#include "core/sys/interprocess.hpp"
#include "core/trace/replay/replayer.hpp"

namespace memsweep::engine {

class Replays {
  public:
    Replays(const RunRegion& region, CaseMemory& memory) : region_{region}, memory_{memory} {}

    [[nodiscard]] bool prepare();

    // Calls `at_end` at the last event, before the remaining blocks are freed. If the step times every call, `at_end`
    // is not called.
    [[nodiscard]] trace::ReplayRun run(const Replay& step, const std::function<void()>& at_end);

    // Whether this replay only repeats an earlier replay of the same trace, to time its calls. Nothing else of such a
    // replay is counted.
    [[nodiscard]] bool repeats(const Replay& step) const { return step.latency && replays_[step.trace].has_run; }

  private:
    struct One {
        explicit One(sys::SharedRegion mapped, const trace::ReplayProgram& program)
            : words{std::move(mapped)}, replayer{program}
        {
        }
        sys::SharedRegion words;
        trace::Replayer replayer;
        bool has_run{};  // in this repetition
    };
    // Whether the calls bypass the case's memory: they go straight to malloc or, with the null resource, nowhere.
    [[nodiscard]] bool is_direct() const;

    [[nodiscard]] trace::ReplayRun replay(trace::Replayer& replayer, trace::ReplayTouch touch,
                                          const trace::ReplayWatch& watch);

    // Direct calls bypass the counters of the case's memory, so this counts them by the totals of the trace.
    void count_direct_calls(const trace::Replayer& replayer);

    void account(const trace::ReplayRun& run);

    const RunRegion& region_;
    CaseMemory& memory_;
    std::deque<One> replays_;
};

}  // namespace memsweep::engine
