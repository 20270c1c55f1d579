// The charts of a result, in the order in which a reader wants them.
#pragma once

#include <vector>

#include "reporters/document/case_keys.hpp"
#include "reporters/document/chart.hpp"
#include "reporters/document/curve_chart.hpp"

namespace memsweep::reporters {

// Returns the charts of one scenario's cases: first those of a replay and of the swept axis, then those of memory and
// page faults, with a few cases per chart. No section is empty.
[[nodiscard]] std::vector<ChartSection> chart_sections(const Cases& cases, const CurveDetail& detail);

// The two parts of chart_sections(). If no axis was swept and no trace replayed, the section of sweep_sections() has no
// charts.
[[nodiscard]] std::vector<ChartSection> sweep_sections(const Cases& cases);
[[nodiscard]] std::vector<ChartSection> memory_sections(const Cases& cases, const CurveDetail& detail);

// Returns up to three charts: memory over time, faults and stalls over time (only of watched programs), and the page
// faults of each phase. The last one has a dot per case on a logarithmic axis, with the number beside the dot. Charts
// without data are left out.
[[nodiscard]] ChartSection memory_charts(const ChartGroup& group, const CurveDetail& detail);

}  // namespace memsweep::reporters
