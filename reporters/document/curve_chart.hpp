// Memory over time: a strip per case on one time axis, its phases behind it.
//
// Sources  the first measured repetition of each case.
// Memory   all curves of a report together stay below some 40,000 samples and 6,000 table rows, each below 2,000:
//          min and max of every stretch are kept.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/model/report.hpp"
#include "reporters/document/case_keys.hpp"
#include "reporters/document/chart.hpp"

namespace memsweep::reporters {

// How much of each curve is kept; the more there are, the less.
struct CurveDetail {
    std::size_t samples{};  // drawn
    std::size_t slices{};   // of a strip that show their values under the pointer
    std::size_t rows{};     // in its table
};
[[nodiscard]] CurveDetail curve_detail(const Cases& cases);
[[nodiscard]] CurveDetail curve_detail(const model::RunReport& report);

// Empty when nothing was sampled.
[[nodiscard]] std::optional<Chart> curve_chart(const ChartGroup& group, const CurveDetail& detail);

// The repetition whose curves stand for a case: the first that was sampled; 0 when none was.
[[nodiscard]] inline std::uint32_t first_repetition(const model::CaseReport& report)
{
    return report.series.empty() ? 0
                                 : std::ranges::min_element(report.series, {}, &model::Series::repetition)->repetition;
}

}  // namespace memsweep::reporters
