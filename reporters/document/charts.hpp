// The charts of a result, in the order in which a reader wants them.
#pragma once

#include <string>
#include <vector>

#include "reporters/document/chart.hpp"
#include "reporters/document/curve_chart.hpp"

namespace memsweep::reporters {

// Of one scenario's cases: what is swept, then memory and page faults of each few cases. No section is empty.
[[nodiscard]] std::vector<ChartSection> chart_sections(const Cases& cases, const CurveDetail& detail);

}  // namespace memsweep::reporters
