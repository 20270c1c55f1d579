// How far a figure is from a limit that it is checked against.
#pragma once

#include <optional>

#include "core/model/report.hpp"

namespace memsweep::reporters {

// As a share of the limit: 0.1 is a tenth better than asked, -0.1 a tenth worse. Absent if there is no figure, if the
// limit is 0, if no figure can be better than the limit (==, !=), or if several cases are compared.
[[nodiscard]] std::optional<double> room_left(const model::AssertionResult& result);

// The limit whose figure has the least room, of those that hold; nullptr: there is none.
[[nodiscard]] const model::AssertionResult* nearest_limit(const model::RunReport& report);

}  // namespace memsweep::reporters
