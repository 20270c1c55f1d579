// Figures of a result that cannot all be true: counts of what the result itself holds, and summaries of its own values.
//
// Cost     one look at each value.
// Errors   the first contradiction becomes the document's problem: its place, what it says, and what it contradicts.
#pragma once

#include "core/model/report.hpp"
#include "reporters/json/json_node.hpp"

namespace memsweep::reporters {

// `node` is the case that `report` was read from.
void check_consistency(const Node& node, const model::CaseReport& report);

// `counts` is the result's own summary of `report`, whose cases and assertions have been read.
void check_counts(const Node& counts, const model::RunReport& report);

}  // namespace memsweep::reporters
