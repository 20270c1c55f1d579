// Runs a plan in the order that its schedule gives. The report grows with every repetition.
//
// Errors   a case that crashes, times out or runs out of memory ends with a reason; the other cases go on, even those
//          that run at the same time. In a sweep the cases share a worker: if one fails, all later cases of the sweep
//          end too, and the earlier cases of the sweep go on. An interruption ends the run; the report keeps all
//          measurements made so far and says `interrupted`.
// Memory   the runner touches as much memory as the largest case is estimated to need: before the first case, and again
//          after 10 s without use of memory. On a virtual machine the very first touch of a page costs several times as
//          much as a later one.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

#include "core/engine/entries.hpp"
#include "core/engine/observer.hpp"
#include "core/engine/repetition/executor.hpp"
#include "core/model/plan.hpp"
#include "core/schedule/schedule.hpp"
#include "core/sys/clock.hpp"

namespace memsweep::engine {

class Runner {
  public:
    // `report` must already have its run, tool and machine facts, and must outlive the runner. If an earlier run
    // measured cases of the report (resume), these keep their values and get only the repetitions that they lack.
    Runner(const model::Plan& plan, schedule::Schedule& schedule, Executor& executor, Observer& observer,
           const sys::Clock& clock, const Capabilities& capabilities, RunOptions options, model::RunReport& report);

    // Call only one time. The caller judges the assertions (judgement.hpp).
    void run();

    [[nodiscard]] bool interrupted() const { return interrupted_; }

  private:
    bool do_next(const schedule::Next& next);  // false: the run is complete
    [[nodiscard]] bool goes_on() const { return !interrupted_ && !aborted_; }

    void take_turn(const schedule::Turn& turn);
    void take_at_once(const schedule::Turn& turn);
    [[nodiscard]] schedule::Group due(const schedule::Turn& turn) const;
    void run_case(Entry& entry, const schedule::Turn& turn, const RunLimits& limits);
    [[nodiscard]] RunLimits limits_of(std::size_t index, const schedule::Turn& turn) const;

    void settle(Entry& entry, const RepetitionStart& start, const Attempt& attempt);
    void cut_short(std::span<const std::size_t> sweep, std::size_t failed);
    void discard_round(std::uint32_t repetition);
    void end_case(Entry& entry);
    void end_rest();

    void keep_memory_warm();
    void note_pace();

    const model::Plan& plan_;
    schedule::Schedule& schedule_;
    Executor& executor_;
    Observer& observer_;
    const sys::Clock& clock_;
    Capabilities capabilities_;
    RunOptions options_;
    model::RunReport& report_;
    Entries entries_;
    std::optional<std::chrono::nanoseconds> last_pace_;  // when the machine's speed was last measured
    std::optional<std::chrono::nanoseconds> last_use_;   // when a case or keep_memory_warm() last used memory
    bool interrupted_{};
    bool aborted_{};
};

}  // namespace memsweep::engine
