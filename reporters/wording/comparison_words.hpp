// What a comparison found, in words.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/measure/comparison.hpp"

namespace memsweep::reporters {

// A verdict in full: the repetitions, the effect, the test, what was allowed, and what would have changed it.
// Sentences, in the order in which a verdict comes about. `family` noisy metrics were tested together.
[[nodiscard]] std::vector<std::string> explanation(const measure::MetricComparison& metric, std::size_t family);

// "wall_time 1.10x (...), cpu_time 1.08x (...) and 3 more regressed; page faults explain ...".
[[nodiscard]] std::string changed_case_text(const measure::Finding& finding, const measure::ChangedCase& changed);

}  // namespace memsweep::reporters
