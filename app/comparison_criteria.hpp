// What `compare` judges: its gate file, changed by --metric and --threshold.
#pragma once

#include <optional>
#include <vector>

#include "app/options.hpp"
#include "core/measure/compare.hpp"

namespace memsweep::app {

// Metrics are those that memsweep knows and those that the results hold. Empty after the errors were printed.
[[nodiscard]] std::optional<measure::Criteria> comparison_criteria(const CompareCommand& command,
                                                                   const std::vector<model::RunReport>& results);

}  // namespace memsweep::app
