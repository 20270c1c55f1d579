// The first chart of a run, which shows the time and memory of all cases at a glance.
#pragma once

#include <string>
#include <vector>

#include "reporters/document/case_keys.hpp"
#include "reporters/document/chart.hpp"

namespace memsweep::reporters {

// Shows each case with its time and its peak, or with the first two metrics that the scenario names as its headline.
// The values are medians with their intervals. More than 40 cases that differ on two or three axes are drawn as a map.
// The result is empty if there is only one case, if more than 40 cases cannot be drawn as a map, or if no metric has
// values of at least two cases.
[[nodiscard]] std::vector<ChartSection> answer_charts(const Cases& cases, const std::vector<std::string>& headline);

}  // namespace memsweep::reporters
