// Page faults of each phase: a dot per case on a logarithmic axis, with its number beside it.
#pragma once

#include <optional>

#include "reporters/document/chart.hpp"
#include "reporters/document/chart_groups.hpp"

namespace memsweep::reporters {

// Empty when no phase of the group had a fault.
[[nodiscard]] std::optional<Chart> fault_chart(const ChartGroup& group);

}  // namespace memsweep::reporters
