// Time or bandwidth along an axis that is swept, such as size: lines with interval bands on logarithmic axes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/metric.hpp"
#include "reporters/document/case_keys.hpp"
#include "reporters/document/chart.hpp"

namespace memsweep::reporters {

// Empty when no axis has three positive numbers that span a factor of four. Lines beyond eight make another chart.
[[nodiscard]] std::vector<Chart> sweep_charts(const Cases& cases);

// The numeric axis that a scenario sweeps.
struct SweepAxis {
    std::string name;
    model::Unit unit{};  // bytes, or a plain number
};

// One with at least three positive numbers that span a factor of four; of several one that speaks of a size.
[[nodiscard]] std::optional<SweepAxis> sweep_axis(const Cases& cases);

// A case's place on it; "4KiB" counts as the number it is. Empty when it has none.
[[nodiscard]] std::optional<double> place_on(const SweepAxis& axis, const model::CaseReport& report);

}  // namespace memsweep::reporters
