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
    std::string spoken{};  // the content, for readers who cannot see it
    Json spec{};           // without "$schema", colours or fonts: whatever shows the chart adds them
    std::vector<Table> data{};
    bool long_data{};   // its tables have a row per sample
    Picture picture{};  // the content of the spec, for renderers that draw it themselves
};

struct ChartSection {
    std::string title;  // what its cases share and others do not, inert; may be empty
    std::vector<Chart> charts;
};

// Figures as charts need them: in one unit that suits them all, and with no more digits than a pixel can show.

struct ChartUnit {
    std::string_view name;  // "MiB", "ms"
    double factor{1};       // size of the unit, in the metric's own unit
};

// The unit in which `largest` has one to four digits before its decimal point.
[[nodiscard]] ChartUnit chart_unit(model::Unit unit, double largest);

// Six significant digits; null if the value is not finite.
[[nodiscard]] Json chart_number(double value);

// A Vega expression that writes an axis value of this unit: "4 KiB", "1.2 ms", "13 GB/s".
[[nodiscard]] std::string_view axis_label(model::Unit unit);

// The "axis" of a linear scale from 0 to `largest`, with about six marks. The marks of bytes are at whole KiB, MiB and
// GiB, where Vega would not put them.
[[nodiscard]] Json axis_from_zero(model::Unit unit, double largest);

// Shortens long curves without losing their extremes.

// The indices of at most `limit` (at least 4) values, in ascending order: the first, the last, and the lowest and
// highest of every stretch between them. A short curve keeps all values. A long one loses values that are not finite.
[[nodiscard]] std::vector<std::size_t> thinned(std::span<const double> values, std::size_t limit);

}  // namespace memsweep::reporters
