// The cases of a run: which of them this machine can measure, what they are compiled to, and how far each has come.
//
// Errors   a case that cannot be measured is there, has ended, and says why in the report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/engine/admission.hpp"
#include "core/engine/compile.hpp"
#include "core/engine/observer.hpp"
#include "core/engine/repetition/attempt.hpp"
#include "core/model/plan.hpp"
#include "core/model/report.hpp"

namespace memsweep::engine {

struct Entry {
    const model::Case* plan_case{};
    CompiledCase compiled;
    bool ended{};  // no more repetitions of it are wanted
    bool lost{};   // nor can it run for the sake of those that come after it in a sweep
};

struct Entries {
    PackedTraces traces;                // that compiled cases point into
    std::vector<Entry> all;             // as report.cases, which may have more behind them
    std::uint64_t max_touched_bytes{};  // the largest estimate of those whose pages this machine touches

    [[nodiscard]] Entry& operator[](std::size_t index) { return all[index]; }
    [[nodiscard]] const Entry& operator[](std::size_t index) const { return all[index]; }
};

// Makes the cases of the report. Those that an earlier run has left in it keep their values and are only completed.
// Those that the plan leaves out stay as they are, behind the others.
[[nodiscard]] Entries prepare_entries(const model::Plan& plan, const Capabilities& capabilities,
                                      const RunOptions& options, model::RunReport& report);

// Takes in what a repetition came to, and ends the entry if nothing more can or need follow. `number`: from 0.
void accept(const Attempt& attempt, std::uint32_t number, bool is_warmup, const Capabilities& capabilities,
            Entry& entry, model::CaseReport& report);

// What is left to be run of cases that have not ended.
[[nodiscard]] PlannedRuns planned_runs(const model::Plan& plan, const Entries& entries, const model::RunReport& report);

// Whether the program's allocations are still to be counted: until some rounds of them have repeated. Where a round is
// compared, all of its programs are counted while the counts of one vary.
[[nodiscard]] bool is_counted(const Entries& entries, const model::RunReport& report, std::size_t index,
                              bool is_compared);

}  // namespace memsweep::engine
