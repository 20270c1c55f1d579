// Merges several results of one scenario that was measured in parts, by several jobs or on several days.
//
// A case that is in several parts gets the repetitions of all these parts, in the order of the parts. Summaries, noise
// warnings and assertions are computed anew from all repetitions. The case gets the worst status that it has in any
// part. A part that skipped the case does not count for this if another part measured the case.
//
// Sources  the fingerprints decide what belongs together, as for comparisons. The tag `merged_from` of the merged run
//          lists the run ids that went into it, so that a merged result can be merged with further parts.
// Errors   invalid_input, with the part's name: the part has another scenario or machine than the first part, unless
//          forced (the message says what differs); its run is already in another part; a metric or series has another
//          unit than in another part; a metric has more values than the case has repetitions; the case gets too many
//          repetitions.
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

// Merges at least one part. Facts that only one run can have (tool, machine, scenario, seed) are those of the first
// part. The merged run lasts from the first start to the last end. The caller sets its id, argv and exit code.
[[nodiscard]] base::Expected<model::RunReport> merge(std::span<const MergePart> parts, bool force);

// Appends the repetitions of `from` to those of `into`; both are the same case. A metric that only one side has is
// absent, with a reason, in the repetitions of the other side. Summaries are not updated.
//
// Errors   as merge(), without the part's name. After an error, `into` may be partly changed.
[[nodiscard]] base::Expected<void> append_repetitions(model::CaseReport& into, const model::CaseReport& from);

}  // namespace memsweep::measure
