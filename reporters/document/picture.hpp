// The content of a chart as plain values, for renderers that draw without a chart library.
//
// Units  values in the unit of the axis. All texts are inert (text/escaping.hpp).
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "core/model/metric.hpp"
#include "reporters/document/table.hpp"

namespace memsweep::reporters {

// Across all rows, at a value.
struct PictureLine {
    double at{};
    std::string name{};  // shown above it; may be empty
    bool is_limit{};     // not dashed
};

// Alternatives below each other on one axis. Each is a dot with its interval.
struct DotPicture {
    struct Row {
        std::string name;
        double value{};
        double low{};  // low and high are the ends of the interval; without one, both are the value
        double high{};
        std::string text;  // shown beside the dot
        Tone tone{Tone::plain};
    };
    std::vector<Row> rows{};
    std::string quantity{};
    model::Unit unit{};
    double from{};  // from and to are the ends of the axis
    double to{};
    bool is_log{};
    std::vector<PictureLine> lines{};
};

// Cells in rows and columns, tinted by their values.
struct HeatPicture {
    struct Cell {
        std::size_t row{};
        std::size_t column{};
        double share{};  // strength of the tint, 0..1
        std::string text;
    };
    std::string row_axis{};
    std::string column_axis{};
    std::vector<std::string> rows{};
    std::vector<std::string> columns{};
    std::vector<Cell> cells{};
    bool has_texts{};  // there are few enough columns to show texts in the cells
};

using Picture = std::variant<std::monostate, DotPicture, HeatPicture>;  // monostate: a chart of curves

struct AxisMark {
    double at{};
    std::string text;
};

// At most eight values between two ends above 0, to be marked on a logarithmic axis: powers of ten, with their doubles
// and fives where there are less than two decades, and even steps where the ends are close; of bytes powers of two.
[[nodiscard]] std::vector<double> log_marks(model::Unit unit, double from, double to);

// Two to eight round values between `from` and `to`. On a logarithmic axis both ends must be above 0.
[[nodiscard]] std::vector<AxisMark> axis_marks(const DotPicture& picture);

}  // namespace memsweep::reporters
