// The cases of a run: whether they can be measured on this machine, their compiled form, and their progress.
//
// Errors   a case that cannot be measured counts as ended; its report has the reason.
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
    model::CaseReport* report{};  // in the report of the run; the address stays valid
    // The case needs no more repetitions. It may still run: a later case in the same worker process must find the
    // memory as this case leaves it.
    bool ended{};
    bool lost{};  // it must not run again, not even for a later case
};

struct Entries {
    PackedTraces traces;     // compiled cases have pointers into this
    std::vector<Entry> all;  // in the order of report.cases, which may have further cases at its end
    // The largest estimated memory of a case, among the cases that touch pages of host memory.
    std::uint64_t max_touched_bytes{};

    [[nodiscard]] Entry& operator[](std::size_t index) { return all[index]; }
    [[nodiscard]] const Entry& operator[](std::size_t index) const { return all[index]; }
};

// Makes the entries, and the cases of the report. If the report has cases of an earlier run that were ok or failed,
// these keep their measured values, and only their missing repetitions are run. Cases that are not in the plan stay
// unchanged and move to the end.
[[nodiscard]] Entries prepare_entries(const model::Plan& plan, const Capabilities& capabilities,
                                      const RunOptions& options, model::RunReport& report);

// Adds the outcome of a repetition to the report, and ends the entry if no further repetition is needed or possible.
// `number`: the repetition's number, from 0.
void accept(const Attempt& attempt, std::uint32_t number, bool is_warmup, const Capabilities& capabilities,
            Entry& entry);

// Counts the cases that have not ended, their remaining repetitions, and their warm-ups.
[[nodiscard]] PlannedRuns planned_runs(const model::Plan& plan, const Entries& entries);

// Whether the program's allocations must be counted in the next repetition. They are counted in the first few
// repetitions and, if these counts are not all equal, in all later repetitions. `is_compared`: programs are compared in
// rounds; then all of them are counted as long as one of them must be.
[[nodiscard]] bool is_counted(const Entries& entries, std::size_t index, bool is_compared);

}  // namespace memsweep::engine
