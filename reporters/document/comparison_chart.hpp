// What changed between two results, on one axis: each ratio with its interval, and where "no change" lies.
#pragma once

#include <optional>

#include "reporters/document/chart.hpp"
#include "reporters/document/comparison_report.hpp"

namespace memsweep::reporters {

// The metrics that changed, the largest change first; where none did, the time of every case. Empty where no ratio is
// known.
[[nodiscard]] std::optional<Chart> comparison_chart(const measure::Comparison& comparison);

}  // namespace memsweep::reporters
