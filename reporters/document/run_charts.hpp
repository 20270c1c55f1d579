// The charts of a result, in the order in which a reader wants them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/metric.hpp"
#include "core/model/report.hpp"
#include "reporters/document/case_keys.hpp"
#include "reporters/document/chart.hpp"

namespace memsweep::reporters {

// Memory over time: a strip per case on one time axis, its phases behind it.
//
// Sources  the first measured repetition of each case, for curves and their titles.
// Memory   all curves of a report together stay below some 40,000 samples and 6,000 table rows, each below 2,000:
//          min and max of every stretch are kept.

// How much of each curve is kept: less if there are more curves.
struct CurveDetail {
    std::size_t samples{};  // drawn
    std::size_t slices{};   // parts of a strip that show their values under the pointer
    std::size_t rows{};     // in its table
};
[[nodiscard]] CurveDetail curve_detail(const Cases& cases);

// Empty when nothing was sampled.
[[nodiscard]] std::optional<Chart> curve_chart(const ChartGroup& group, const CurveDetail& detail);

// The repetition whose curves stand for a case: the first sampled one; 0 if none was sampled.
[[nodiscard]] inline std::uint32_t first_repetition(const model::CaseReport& report)
{
    return report.series.empty() ? 0
                                 : std::ranges::min_element(report.series, {}, &model::Series::repetition)->repetition;
}

// The case as that repetition alone left it: its metrics and points, without its phases and series. So the text beside
// a curve is about the drawn repetition.
[[nodiscard]] model::CaseReport drawn_repetition(const model::CaseReport& report);

// The answer as a picture: each case with its time and its peak, or with the two metrics that the scenario names first,
// as medians with their intervals. More than 40 cases that differ on two or three axes make a map. Empty for one case
// alone, for more than 40 cases otherwise, and without figures.
[[nodiscard]] std::vector<ChartSection> answer_charts(const Cases& cases, const std::vector<std::string>& headline);

// Time or bandwidth along a swept axis, such as size: lines with interval bands on logarithmic axes. Empty if no axis
// has three positive numbers that span a factor of four. Lines beyond eight make another chart.
[[nodiscard]] std::vector<Chart> sweep_charts(const Cases& cases);

// The charts of one scenario's cases: swept axes, then memory and page faults of a few cases at a time. No section is
// empty.
[[nodiscard]] std::vector<ChartSection> chart_sections(const Cases& cases, const CurveDetail& detail);

// Memory over time; faults and stalls over time of watched programs; and the page faults of each phase as a dot per
// case on a logarithmic axis, with its number beside it. Charts that would be empty are left out.
[[nodiscard]] ChartSection memory_charts(const ChartGroup& group, const CurveDetail& detail);

}  // namespace memsweep::reporters
