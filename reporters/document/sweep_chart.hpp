// The charts of a swept axis: an axis of numbers, such as size, along which the cases of a scenario vary.
#pragma once

#include <vector>

#include "reporters/document/case_keys.hpp"
#include "reporters/document/chart.hpp"

namespace memsweep::reporters {

// Returns charts of time or bandwidth along a swept axis: lines with interval bands, on logarithmic axes. An axis
// counts as swept if it has at least three numbers, all of them positive, and the largest is at least four times the
// smallest. Empty if there is no such axis. A chart has up to eight lines; further lines go into further charts.
[[nodiscard]] std::vector<Chart> sweep_charts(const Cases& cases);

// Whether the chart of the swept axis answers more than a dot for each case would. This is so if there are at least two
// lines, and one chart has all of them.
[[nodiscard]] bool sweep_is_answer(const Cases& cases);

}  // namespace memsweep::reporters
