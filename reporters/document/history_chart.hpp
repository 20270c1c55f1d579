// One metric of one case from run to run: medians with their intervals, the levels they lie on, and where those change.
#pragma once

#include "core/measure/history.hpp"
#include "reporters/document/chart.hpp"

namespace memsweep::reporters {

[[nodiscard]] Chart history_chart(const measure::History& history, const measure::Trend& trend);

// The cell as in a comparison, except that a change of what is not judged stands out.
[[nodiscard]] Cell change_cell(measure::Verdict verdict);

}  // namespace memsweep::reporters
