// One metric of one case from run to run: medians with their intervals, their levels, and the changes of level.
#pragma once

#include "core/measure/history.hpp"
#include "reporters/document/chart.hpp"

namespace memsweep::reporters {

[[nodiscard]] Chart history_chart(const measure::History& history, const measure::Trend& trend);

// The cell of a verdict, as in a comparison, except that a change of an informational metric stands out.
[[nodiscard]] Cell change_cell(measure::Verdict verdict);

}  // namespace memsweep::reporters
