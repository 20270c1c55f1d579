// One chart: a description in words, the Vega-Lite spec that draws the chart, and tables of the values in it.
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
    Json spec{};           // without "$schema", colours or fonts: the code that shows the chart adds them
    std::vector<Table> data{};
    bool long_data{};   // its tables are long: one row per sample
    Picture picture{};  // the content of the spec, for renderers that draw it themselves
};

struct ChartSection {
    std::string title;  // what these cases have in common on the axes: "collect_every=20"; may be empty
    std::vector<Chart> charts;
};

// The unit in which a chart shows all its values.

struct ChartUnit {
    std::string_view name;  // "MiB", "ms"
    double factor{1};       // size of the unit, in the metric's own unit
};

// Chooses a unit in which `largest` is easy to read: one to four digits before its decimal point, if there is such a
// unit.
[[nodiscard]] ChartUnit chart_unit(model::Unit unit, double largest);

// Rounds the value to six significant digits, because a pixel shows no more; null if the value is not finite.
[[nodiscard]] Json chart_number(double value);

// Returns a Vega expression that writes an axis value of this unit: "4 KiB", "1.2 ms", "13 GB/s".
[[nodiscard]] std::string_view axis_label(model::Unit unit);

// Returns the Vega-Lite "axis" object of a linear scale from 0 to `largest`, with about six ticks. The ticks of bytes
// are at round binary values, such as 512 KiB; Vega would not put them there.
[[nodiscard]] Json axis_from_zero(model::Unit unit, double largest);

// A logarithmic axis for values from `least` to `largest`. Its upper end is at least `least_span` times its lower end.
// As a result, values that are close together do not look far apart, and there are ticks at round values between the
// two ends.
struct LogAxis {
    Json axis;    // the Vega-Lite "axis" object: the ticks, with a label each
    Json domain;  // the "domain" of the scale: its two ends; null: not all values are above 0 and finite
};
[[nodiscard]] LogAxis log_axis(model::Unit unit, double least, double largest, double least_span = 1.5);

// Shortens long curves without losing their extremes. Returns the indices of at most `limit` (at least 4) values, in
// ascending order: the first, the last, and the lowest and highest of every stretch between them. A curve of at most
// `limit` values keeps all of them. From a longer curve, values that are not finite are dropped, except the first and
// the last.
[[nodiscard]] std::vector<std::size_t> thinned(std::span<const double> values, std::size_t limit);

}  // namespace memsweep::reporters
