// Figures as charts want them: in one unit that suits them all, and no longer than a pixel can show.
#pragma once

#include <string_view>

#include "core/model/metric.hpp"
#include "reporters/text/json.hpp"

namespace memsweep::reporters {

struct ChartUnit {
    std::string_view name;  // "MiB", "ms"
    double factor{1};       // of the metric's own unit
};

// The one in which `largest` has one to four digits before its point.
[[nodiscard]] ChartUnit chart_unit(model::Unit unit, double largest);

// Six significant digits; null when it is not finite.
[[nodiscard]] Json chart_number(double value);

// A Vega expression that writes an axis value of this unit: "4 KiB", "1.2 ms", "13 GB/s".
[[nodiscard]] std::string_view axis_label(model::Unit unit);

}  // namespace memsweep::reporters
