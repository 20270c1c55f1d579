// A verdict in full: the repetitions, the effect, the test, what was allowed, and what would have changed it.
//
// Sources  how many repetitions would do: the interval narrows with the square root of their number as long as the
//          scatter stays; an estimate, no promise.
#pragma once

#include <string>
#include <vector>

#include "core/measure/compare.hpp"

namespace memsweep::measure {

// Sentences, in the order in which a verdict comes about. `family` noisy metrics were tested together.
[[nodiscard]] std::vector<std::string> explanation(const MetricComparison& metric, std::size_t family);

// About how many repetitions of each side would settle an inconclusive metric; 0 when none of up to 1,000 would, or
// when the metric is not inconclusive.
[[nodiscard]] std::size_t repetitions_to_settle(const MetricComparison& metric, std::size_t family);

}  // namespace memsweep::measure
