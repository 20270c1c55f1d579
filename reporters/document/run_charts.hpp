// The charts of a result, in the order in which a reader wants them.
#pragma once

#include <vector>

#include "reporters/document/case_keys.hpp"
#include "reporters/document/chart.hpp"
#include "reporters/document/curve_chart.hpp"

namespace memsweep::reporters {

// The charts of one scenario's cases: first the swept axes, then memory and page faults, a few cases to a chart. No
// section is empty.
[[nodiscard]] std::vector<ChartSection> chart_sections(const Cases& cases, const CurveDetail& detail);

// Its two parts. The first has sections without charts if nothing was swept.
[[nodiscard]] std::vector<ChartSection> sweep_sections(const Cases& cases);
[[nodiscard]] std::vector<ChartSection> memory_sections(const Cases& cases, const CurveDetail& detail);

// Charts of memory over time; of faults and stalls over time, if programs were watched; and of the page faults of each
// phase. The chart of page faults has a dot per case on a logarithmic axis, with the number beside the dot. Empty
// charts are left out.
[[nodiscard]] ChartSection memory_charts(const ChartGroup& group, const CurveDetail& detail);

}  // namespace memsweep::reporters
