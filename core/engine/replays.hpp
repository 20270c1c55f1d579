// The replay steps of one repetition: traces that the driver has compiled, replayed on the case's memory.
//
// Under release mode immediate the calls go straight to malloc, or to the case's resource; resource null answers
// nothing at all, which is the cost of the dispatch. Any other mode gives every block a handle.
// Units    bytes, nanoseconds, counts.
// Cost     as trace::Replayer. What the replay itself needs is mapped and faulted in before the baseline.
// Errors   prepare: false where the driver's memory cannot be mapped.
#pragma once

#include <deque>
#include <vector>

#include "core/engine/environment.hpp"
#include "core/engine/run_region.hpp"
#include "core/sys/shared_region.hpp"
#include "core/trace/replay/replayer.hpp"

namespace memsweep::engine {

class Replays {
  public:
    Replays(const RunRegion& region, CaseMemory& memory) : region_{region}, memory_{memory} {}

    [[nodiscard]] bool prepare();
    [[nodiscard]] trace::ReplayRun run(const Replay& step);

  private:
    struct One {
        explicit One(sys::SharedRegion mapped, const trace::ReplayProgram& program)
            : words{std::move(mapped)}, replayer{program}
        {
        }
        sys::SharedRegion words;
        trace::Replayer replayer;
    };
    [[nodiscard]] bool is_direct() const;
    [[nodiscard]] trace::ReplayRun replay(trace::Replayer& replayer, trace::ReplayTouch touch,
                                          trace::CallTimeCounts* times);
    void count_direct_calls(const trace::Replayer& replayer);
    void account(const trace::ReplayRun& run);

    const RunRegion& region_;
    CaseMemory& memory_;
    std::deque<One> replays_;
};

}  // namespace memsweep::engine
