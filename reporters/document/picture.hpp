// What a chart shows as plain values, for a renderer that draws without a library for charts.
//
// Units  values in the unit of the axis; texts are inert.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/model/metric.hpp"
#include "reporters/document/table.hpp"

namespace memsweep::reporters {

// Alternatives below each other on one axis, each a dot in its interval.
struct DotPicture {
    struct Row {
        std::string name;
        double value{};
        double low{};  // the ends of its interval; both the value, if it has none
        double high{};
        std::string text;  // beside the dot
        Tone tone{Tone::plain};
    };
    std::vector<Row> rows{};
    std::string quantity{};
    model::Unit unit{};
    double from{};  // of the axis
    double to{};
    bool is_log{};
    std::optional<double> reference{};  // a dashed line
};

// Cells in rows and columns, tinted by their values.
struct HeatPicture {
    struct Cell {
        std::size_t row{};
        std::size_t column{};
        double share{};  // of the strongest tint, 0..1
        std::string text;
    };
    std::string row_axis{};
    std::string column_axis{};
    std::vector<std::string> rows{};
    std::vector<std::string> columns{};
    std::vector<Cell> cells{};
    bool has_texts{};  // few enough columns for them
};

using Picture = std::variant<std::monostate, DotPicture, HeatPicture>;  // nothing of a chart of curves

struct AxisMark {
    double at{};
    std::string text;
};

// Two to eight round values between `from` and `to`, both of which are above 0 where the axis is logarithmic.
[[nodiscard]] std::vector<AxisMark> axis_marks(const DotPicture& picture);

}  // namespace memsweep::reporters
