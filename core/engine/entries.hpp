// The cases of a run: whether this machine can measure them, their compiled form, and their progress.
//
// Errors   a case that cannot be measured is kept as ended, with the reason in the report.
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
    model::CaseReport* report{};  // in the report of the run, whose cases stay where they are
    bool ended{};                 // it needs no more repetitions
    bool lost{};                  // it cannot even run for the sake of later cases of its sweep
};

struct Entries {
    PackedTraces traces;                // compiled cases point into them
    std::vector<Entry> all;             // in the order of report.cases, which may have more at the end
    std::uint64_t max_touched_bytes{};  // the largest estimate of cases whose pages this machine touches

    [[nodiscard]] Entry& operator[](std::size_t index) { return all[index]; }
    [[nodiscard]] const Entry& operator[](std::size_t index) const { return all[index]; }
};

// Makes the cases of the report. Cases that an earlier run has left in it keep their values and are only completed.
// Cases that the plan leaves out stay unchanged, behind the others.
[[nodiscard]] Entries prepare_entries(const model::Plan& plan, const Capabilities& capabilities,
                                      const RunOptions& options, model::RunReport& report);

// Takes the outcome of a repetition, and ends the entry if no other can or need follow. `number`: from 0.
void accept(const Attempt& attempt, std::uint32_t number, bool is_warmup, const Capabilities& capabilities,
            Entry& entry);

// The remaining work of cases that have not ended.
[[nodiscard]] PlannedRuns planned_runs(const model::Plan& plan, const Entries& entries);

// Whether the program's allocations are still to be counted: until their counts have repeated for some rounds. If a
// round is compared, all of its programs are counted while the counts of one vary.
[[nodiscard]] bool is_counted(const Entries& entries, std::size_t index, bool is_compared);

}  // namespace memsweep::engine
