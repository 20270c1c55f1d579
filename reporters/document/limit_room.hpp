// How far a figure is from its limit.
#pragma once

#include <optional>

#include "core/model/report.hpp"

namespace memsweep::reporters {

// The distance as a share of the limit: 0.1 means that the figure is a tenth better than the limit asks, -0.1 that it
// is a tenth worse. Absent if there is no figure or the limit is 0. Also absent if the comparison (==, !=) has no
// better side, or if the limit is on a ratio of cases.
[[nodiscard]] std::optional<double> room_left(const model::AssertionResult& result);

// Among the limits that hold, the one with the smallest room_left(); nullptr: there is none.
[[nodiscard]] const model::AssertionResult* nearest_limit(const model::RunReport& report);

}  // namespace memsweep::reporters
