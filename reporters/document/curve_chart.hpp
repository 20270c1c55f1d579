// The chart of memory over time: one strip per case on a common time axis, with the case's phases in the background.
//
// Sources  curves and their titles show the first sampled repetition of each case.
// Memory   a curve has at most 2,000 samples and 200 table rows. A long curve is divided into stretches, and the
//          minimum and maximum of every stretch are kept. If there are many curves, each has less, so that all together
//          have some 40,000 samples and 6,000 rows; but each may have 100 samples and 20 rows.
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

// How much detail of each curve is kept. The more curves a report has, the less detail each of them keeps.
struct CurveDetail {
    std::size_t samples{};  // samples that are drawn
    std::size_t slices{};   // parts of a strip that show their values under the mouse pointer
    std::size_t rows{};     // rows in the curve's table
};
[[nodiscard]] CurveDetail curve_detail(const Cases& cases);

// Empty if no memory was sampled in these cases.
[[nodiscard]] std::optional<Chart> curve_chart(const ChartGroup& group, const CurveDetail& detail);

// Returns the repetition whose curves are drawn for a case: the first sampled one; 0 if none was sampled.
[[nodiscard]] inline std::uint32_t first_repetition(const model::CaseReport& report)
{
    return report.series.empty() ? 0
                                 : std::ranges::min_element(report.series, {}, &model::Series::repetition)->repetition;
}

// Returns a copy of the case with the metrics and points of first_repetition() alone, without phases and series. The
// text beside a curve is made from this copy, so that it describes the repetition that is drawn.
[[nodiscard]] model::CaseReport drawn_repetition(const model::CaseReport& report);

}  // namespace memsweep::reporters
