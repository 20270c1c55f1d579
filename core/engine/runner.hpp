// Runs a plan as its schedule says, and makes the report that grows with every repetition.
//
// Errors   a case that crashes, times out or runs out of memory ends alone, with a reason; the others go on. In a sweep
//          the worker ends too, and with it the cases after the failed one; the cases before it keep their repetitions
//          and go on. If cases run at the same time, a failed one does not disturb the others. An interruption ends the
//          run; the measurements so far stay in the report, which says `interrupted`.
// Memory   before the cases are timed, and again after a pause, the machine's memory is touched once up to the largest
//          estimate: on a virtual machine the very first touch of a page costs several times a later one.
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
    // `report` comes with its run, tool and machine facts filled, and outlives the runner. Cases in it that an earlier
    // run measured (resume) keep their values and are only completed.
    Runner(const model::Plan& plan, schedule::Schedule& schedule, Executor& executor, Observer& observer,
           const sys::Clock& clock, const Capabilities& capabilities, RunOptions options, model::RunReport& report);

    // Call once. The caller judges the assertions (judgement.hpp).
    void run();

    [[nodiscard]] bool interrupted() const { return interrupted_; }

  private:
    bool do_next(const schedule::Next& next);  // false: nothing follows
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
    std::optional<std::chrono::nanoseconds> last_pace_;  // when the machine's pace was noted
    std::optional<std::chrono::nanoseconds> last_use_;   // when this run last had its memory in use
    bool interrupted_{};
    bool aborted_{};
};

}  // namespace memsweep::engine
