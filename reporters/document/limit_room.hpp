// Says how far a measured value is from its limit.
#pragma once

#include <optional>

#include "core/model/report.hpp"

namespace memsweep::reporters {

// Returns the distance as a share of the limit. 0.1 means that the value is better than the limit by a tenth of the
// limit, -0.1 that it is worse by a tenth. Absent if there is no value or the limit is 0. Also absent if the limit
// prefers neither smaller nor larger values (==, !=), or if it is on a ratio of cases.
[[nodiscard]] std::optional<double> room_left(const model::AssertionResult& result);

// Returns the limit with the smallest room_left() among the limits that were met, or nullptr if none of these has a
// room_left().
[[nodiscard]] const model::AssertionResult* nearest_limit(const model::RunReport& report);

}  // namespace memsweep::reporters
