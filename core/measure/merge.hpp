// Joins several results of one scenario that was measured in parts, by several jobs or on several days.
//
// If several parts hold a case, it gets the repetitions of all, in the order of the parts. Summaries, noise warnings
// and assertions are made anew from all of them. A case has the status of its worst part. But if one part skipped it
// and another measured it, it is measured.
//
// Sources  the fingerprints decide what belongs together, as for comparisons. The tag `merged_from` of the merged run
//          lists the run ids that went into it, so that a merged result can be merged again.
// Errors   invalid_input, with the part's name: another scenario or machine, with what differs (unless forced); a run
//          that another part holds already; a metric or series with another unit; repetitions that do not add up.
#pragma once

#include <span>
#include <string>

#include "core/base/expected.hpp"
#include "core/model/report.hpp"

namespace memsweep::measure {

inline constexpr const char* merged_from_tag = "merged_from";

struct MergePart {
    std::string name;
    const model::RunReport* report{};
};

// Merges at least one part. Facts that only one run can have (tool, machine, scenario, seed) are the first part's; the
// merged run spans all of them. Its id, argv and exit code are left to the caller.
[[nodiscard]] base::Expected<model::RunReport> merge(std::span<const MergePart> parts, bool force);

// Adds the repetitions of a case that another result has to those of `into`. A metric that only one side has is absent,
// with a reason, in the repetitions of the other. Summaries are left as they are.
//
// Errors   as merge(), without the part's name; `into` may be changed in part.
[[nodiscard]] base::Expected<void> append_repetitions(model::CaseReport& into, const model::CaseReport& from);

}  // namespace memsweep::measure
