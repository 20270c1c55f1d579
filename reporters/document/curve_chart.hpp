// The chart of memory over time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

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

}  // namespace memsweep::reporters
