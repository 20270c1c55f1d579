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

// Memory over time: one strip per case on a common time axis, with the case's phases in the background.
//
// Sources  curves and their titles are from the first measured repetition of each case.
// Memory   a curve has at most 2,000 samples and 200 table rows: the minimum and maximum of every stretch are kept. All
//          curves of a report together aim at 40,000 samples and 6,000 rows.

// How much of each curve is kept. More curves leave less for each.
struct CurveDetail {
    std::size_t samples{};  // drawn
    std::size_t slices{};   // parts of a strip that show their values under the mouse pointer
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

// The case with the metrics and points of that repetition alone, and without phases and series. The text beside a curve
// is made from it, so that it is about the drawn repetition.
[[nodiscard]] model::CaseReport drawn_repetition(const model::CaseReport& report);

}  // namespace memsweep::reporters
