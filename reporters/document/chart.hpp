// One chart: a description in words, the Vega-Lite spec that draws it, and its figures as tables.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/metric.hpp"
#include "reporters/document/picture.hpp"
#include "reporters/document/table.hpp"
#include "reporters/text/json.hpp"

namespace memsweep::reporters {

struct Chart {
    std::string title{};   // "Working set over time"
    std::string about{};   // one or two sentences on the content, and how to read it
    std::string spoken{};  // its content, for readers who do not see it
    Json spec{};           // without "$schema", colours or fonts: those belong to where it is shown
    std::vector<Table> data{};
    bool long_data{};   // its tables have a row per sample
    Picture picture{};  // the same as the spec, for those that draw it themselves
};

struct ChartSection {
    std::string title;  // shared by its cases and not by others, inert; may be empty
    std::vector<Chart> charts;
};

// Figures as charts want them: in one unit that suits them all, and no longer than a pixel can show.

struct ChartUnit {
    std::string_view name;  // "MiB", "ms"
    double factor{1};       // in the metric's own unit
};

// The unit in which `largest` has one to four digits before its point.
[[nodiscard]] ChartUnit chart_unit(model::Unit unit, double largest);

// Six significant digits; null when it is not finite.
[[nodiscard]] Json chart_number(double value);

// A Vega expression that writes an axis value of this unit: "4 KiB", "1.2 ms", "13 GB/s".
[[nodiscard]] std::string_view axis_label(model::Unit unit);

// The "axis" of a linear scale from 0 to `largest`: about six marks. Bytes have them at whole KiB, MiB and GiB, which
// Vega would not choose.
[[nodiscard]] Json axis_from_zero(model::Unit unit, double largest);

// Long curves made short without losing their extremes.

// The indices of at most `limit` (at least 4) values, in ascending order: the first, the last, and the lowest and the
// highest of every stretch between. A short curve keeps all of them; a long one loses values that are not finite.
[[nodiscard]] std::vector<std::size_t> thinned(std::span<const double> values, std::size_t limit);

}  // namespace memsweep::reporters
