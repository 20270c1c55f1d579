// The outcome of a comparison, in words.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/measure/comparison.hpp"

namespace memsweep::reporters {

// Explains in sentences how a verdict came about: the repetitions, the effect, the test, the allowed change, and what
// would have changed the verdict. `family`: the number of noisy metrics tested together.
[[nodiscard]] std::vector<std::string> explanation(const measure::MetricComparison& metric, std::size_t family);

// Says what changed in a case, in parts of a sentence, the most important first: "wall_time 1.10x (...), cpu_time 1.08x
// (...) and 3 more regressed", "page faults explain ...". Empty if nothing changed.
[[nodiscard]] std::vector<std::string> changed_case_parts(const measure::Finding& finding,
                                                          const measure::ChangedCase& changed);

}  // namespace memsweep::reporters
