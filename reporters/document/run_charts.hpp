// The charts of a result, in the order in which a reader wants them.
#pragma once

#include <vector>

#include "reporters/document/case_keys.hpp"
#include "reporters/document/chart.hpp"
#include "reporters/document/curve_chart.hpp"

namespace memsweep::reporters {

// Of one scenario's cases: what is swept, then memory and page faults of each few cases. No section is empty.
[[nodiscard]] std::vector<ChartSection> chart_sections(const Cases& cases, const CurveDetail& detail);

// Memory over time, and the page faults of each phase as a dot per case on a logarithmic axis with its number beside
// it; without the charts that would be empty.
[[nodiscard]] ChartSection memory_charts(const ChartGroup& group, const CurveDetail& detail);

}  // namespace memsweep::reporters
