// The first chart of a run: what was asked, at a glance.
#pragma once

#include <string>
#include <vector>

#include "reporters/document/case_keys.hpp"
#include "reporters/document/chart.hpp"

namespace memsweep::reporters {

// The answer as a picture: each case with its time and its peak, or with the two metrics that the scenario names first,
// as medians with their intervals. More than 40 cases that differ on two or three axes make a map. Empty for one case
// alone, for more than 40 cases otherwise, and without figures.
[[nodiscard]] std::vector<ChartSection> answer_charts(const Cases& cases, const std::vector<std::string>& headline);

}  // namespace memsweep::reporters
