// The replay steps of one repetition: traces that the driver has compiled, replayed on the case's memory.
//
// Under release mode immediate the calls go straight to malloc, or to the case's resource. Resource null does nothing
// at all, so its time is the cost of the dispatch. Any other mode gives every block a handle.
// Units    bytes, nanoseconds, counts.
// Cost     as trace::Replayer. The replay's own memory is mapped and faulted in before the baseline.
// Errors   prepare: false if the driver's memory cannot be mapped.
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

    // Calls `at_end` at the last event, before the remaining blocks are freed; not if every call is timed.
    [[nodiscard]] trace::ReplayRun run(const Replay& step, const std::function<void()>& at_end);

  private:
    struct One {
        explicit One(sys::SharedRegion mapped, const trace::ReplayProgram& program)
            : words{std::move(mapped)}, replayer{program}
        {
        }
        sys::SharedRegion words;
        trace::Replayer replayer;
    };
    // Whether the calls would go to malloc itself, or to nothing at all.
    [[nodiscard]] bool is_direct() const;

    [[nodiscard]] trace::ReplayRun replay(trace::Replayer& replayer, trace::ReplayTouch touch,
                                          const trace::ReplayWatch& watch);

    // Counts calls that the counters of the case's memory do not see, by the numbers in the trace.
    void count_direct_calls(const trace::Replayer& replayer);

    void account(const trace::ReplayRun& run);

    const RunRegion& region_;
    CaseMemory& memory_;
    std::deque<One> replays_;
};

}  // namespace memsweep::engine
