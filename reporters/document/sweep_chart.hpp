// The chart of a swept axis.
#pragma once

#include <vector>

#include "reporters/document/case_keys.hpp"
#include "reporters/document/chart.hpp"

namespace memsweep::reporters {

// Time or bandwidth along a swept axis, such as size: lines with interval bands on logarithmic axes. Empty if no axis
// has at least three positive numbers, of which the largest is at least four times the smallest. A chart holds up to
// eight lines; further lines go into further charts.
[[nodiscard]] std::vector<Chart> sweep_charts(const Cases& cases);

// Whether such a chart answers better than a dot for each case: it has several lines, and all of them.
[[nodiscard]] bool sweep_is_answer(const Cases& cases);

}  // namespace memsweep::reporters
