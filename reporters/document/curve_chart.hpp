// Memory over time: a strip per case on one time axis, its phases behind it.
//
// Sources  the first measured repetition of each case.
// Memory   all curves of a report together stay below some 40,000 samples and 6,000 table rows, each below 2,000:
//          min and max of every stretch are kept.
#pragma once

#include <optional>

#include "reporters/document/chart.hpp"
#include "reporters/document/chart_groups.hpp"

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

}  // namespace memsweep::reporters
