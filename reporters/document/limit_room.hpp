// How far a figure is from its limit.
#pragma once

#include <optional>

#include "core/model/report.hpp"

namespace memsweep::reporters {

// As a share of the limit: 0.1 is a tenth better than the limit asks, -0.1 a tenth worse. Absent if there is no figure,
// if the limit is 0, if the comparison (==, !=) has no better side, or if the limit is on a ratio of cases.
[[nodiscard]] std::optional<double> room_left(const model::AssertionResult& result);

// Of the limits that hold, the one whose figure is closest to it; nullptr: no such limit.
[[nodiscard]] const model::AssertionResult* nearest_limit(const model::RunReport& report);

}  // namespace memsweep::reporters
