// The charts of a swept axis: an axis of numbers, such as size, along which the cases of a scenario vary.
#pragma once

#include <vector>

#include "reporters/document/case_keys.hpp"
#include "reporters/document/chart.hpp"

namespace memsweep::reporters {

// Returns charts of time or bandwidth along a swept axis, such as size: lines with interval bands on logarithmic axes.
// Empty if no axis has at least three positive numbers, of which the largest is at least four times the smallest. A
// chart has up to eight lines; further lines go into further charts.
[[nodiscard]] std::vector<Chart> sweep_charts(const Cases& cases);

// Whether the chart of the swept axis shows more than a dot for each case: it has at least two lines, and all of its
// lines fit into one chart.
[[nodiscard]] bool sweep_is_answer(const Cases& cases);

}  // namespace memsweep::reporters
