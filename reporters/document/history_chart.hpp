// A chart of one metric of one case from run to run. It shows the medians with their intervals, the levels that the
// medians keep for several runs, and the changes of level.
#pragma once

#include "core/measure/history.hpp"
#include "reporters/document/chart.hpp"

namespace memsweep::reporters {

[[nodiscard]] Chart history_chart(const measure::History& history, const measure::Trend& trend);

// Returns the table cell of a verdict. The cell looks as in a comparison, except that a change of an informational
// metric is emphasised.
[[nodiscard]] Cell change_cell(measure::Verdict verdict);

}  // namespace memsweep::reporters
