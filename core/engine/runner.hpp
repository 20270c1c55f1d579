// Runs a plan: the schedule of repetitions, the memory budget, and the report that grows with every repetition.
//
// Errors   a case that crashes, times out or runs out of memory ends alone, with a reason; the others go on. In a sweep
//          it takes the worker with it, and so the cases after it; those before it keep their repetitions and go on.
//          Of cases that go together one that fails costs no other. An interruption ends the run; what was measured
//          stays in the report, which says `interrupted`.
// Memory   before the cases are timed, and again after a pause, the machine's memory is touched once up to the largest
//          estimate: on a virtual machine the first touch of a page ever costs several times a later one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/engine/admission.hpp"
#include "core/engine/executor.hpp"
#include "core/engine/program.hpp"
#include "core/model/plan.hpp"
#include "core/sys/clock.hpp"

namespace memsweep::engine {

class Runner {
  public:
    Runner(const model::Plan& plan, Executor& executor, Observer& observer, const sys::Clock& clock,
           const Capabilities& capabilities, RunOptions options);

    // `report` comes with its run, tool and machine facts filled; cases of an earlier run that are found in it (resume)
    // keep their values and are only completed.
    void run(model::RunReport& report);

    [[nodiscard]] bool interrupted() const { return interrupted_; }

  private:
    struct Entry {
        const model::Case* plan_case{};
        Program program;
        bool ended{};  // no more repetitions of it are wanted
        bool lost{};   // nor can it run for the sake of those that come after it in a sweep
    };
    using Sweep = std::vector<std::size_t>;  // indices of entries
    // One repetition of a sweep, of a case placed alone, or of those that go together.
    struct Turn {
        const Sweep& sweep;
        std::uint32_t number{};  // from 0; of the warm-up rounds when `warmup`
        bool warmup{};
        std::size_t first_place{};  // of those that go together: place of the first, the others follow
    };

    void prepare(model::RunReport& report);
    void prepare_case(model::RunReport& report, const model::Case& plan_case, std::uint64_t estimate_bytes);
    void take_turns(model::RunReport& report);
    [[nodiscard]] Sweep due(const model::RunReport& report, const Turn& turn) const;
    bool take_turn(model::RunReport& report, const Turn& turn);  // false: the run stops
    [[nodiscard]] RoundEnd end_round(model::RunReport& report, std::uint32_t number);
    bool take_together(model::RunReport& report, const Turn& turn);
    bool run_case(model::RunReport& report, std::size_t index, std::uint32_t number, bool warmup, bool keeps_worker);
    [[nodiscard]] RunLimits limits_of(const model::RunReport& report, std::size_t index, bool warmup) const;
    [[nodiscard]] bool is_counted(const model::RunReport& report, std::size_t index) const;
    void settle(model::RunReport& report, std::size_t index, const RepetitionStart& start, const Outcome& outcome);
    void cut_short(model::RunReport& report, const Sweep& sweep, std::size_t failed);
    void accept(model::RunReport& report, std::size_t index, const Outcome& outcome, std::uint32_t number, bool warmup);
    void end_case(model::RunReport& report, std::size_t index);
    void keep_memory_warm();
    void note_pace(model::RunReport& report);

    const model::Plan& plan_;
    Executor& executor_;
    Observer& observer_;
    const sys::Clock& clock_;
    Capabilities capabilities_;
    RunOptions options_;
    PackedTraces traces_;
    std::vector<Entry> entries_;  // as report.cases
    std::vector<Sweep> sweeps_;
    std::uint64_t max_estimate_bytes_{};
    std::optional<std::chrono::nanoseconds> last_pace_;  // when the machine's pace was noted
    std::optional<std::chrono::nanoseconds> last_use_;   // when this run last had its memory in use
    bool interrupted_{};
    bool aborted_{};
};

}  // namespace memsweep::engine
