// The charts of a result, in the order in which a reader wants them.
#pragma once

#include <vector>

#include "reporters/document/case_keys.hpp"
#include "reporters/document/chart.hpp"
#include "reporters/document/curve_chart.hpp"

namespace memsweep::reporters {

// The charts of one scenario's cases: swept axes, then memory and page faults of a few cases at a time. No section is
// empty.
[[nodiscard]] std::vector<ChartSection> chart_sections(const Cases& cases, const CurveDetail& detail);

// Memory over time; faults and stalls over time of watched programs; and the page faults of each phase as a dot per
// case on a logarithmic axis, with its number beside it. Charts that would be empty are left out.
[[nodiscard]] ChartSection memory_charts(const ChartGroup& group, const CurveDetail& detail);

}  // namespace memsweep::reporters
