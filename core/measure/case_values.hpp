// The values of one quantity of a case, whether it belongs to whole repetitions or to a named point in them.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/model/report.hpp"

namespace memsweep::measure {

// One per repetition, or one per point of that name (in the order sampled) when `point` is not empty. Empty when the
// case has no such metric or point.
[[nodiscard]] std::vector<std::optional<double>> case_values(const model::CaseReport& report, std::string_view point,
                                                             std::string_view metric);

// Their median; empty when no value is there.
[[nodiscard]] std::optional<double> case_median(const model::CaseReport& report, std::string_view point,
                                                std::string_view metric);

// The names of a case's points, in the order in which they were first sampled.
[[nodiscard]] std::vector<std::string_view> point_names(const model::CaseReport& report);

}  // namespace memsweep::measure
