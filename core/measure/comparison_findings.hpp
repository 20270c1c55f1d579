// What changed between two results, as sentences: one per case, the worst first, and why where page faults tell.
//
// Errors   none.
#pragma once

#include <span>
#include <vector>

#include "core/measure/comparison.hpp"

namespace memsweep::measure {

// `comparison.cases` and `comparison.metrics` are complete; `pairs` are what they were made from.
[[nodiscard]] std::vector<Finding> comparison_findings(const Comparison& comparison, std::span<const CasePair> pairs);

// "1.10x (95 % interval 1.09 to 1.12)", "+64 (95 % interval +60 to +70)"; what an exact counter became instead.
[[nodiscard]] std::string effect_text(const MetricComparison& metric);

}  // namespace memsweep::measure
