// The content of a chart as plain values, for renderers that draw without a chart library.
//
// Units  values in the unit of the axis. All texts were made safe to show by inert_text() (text/escaping.hpp).
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "core/model/metric.hpp"
#include "reporters/document/table.hpp"

namespace memsweep::reporters {

// A line across all rows, at one value of the axis.
struct PictureLine {
    double at{};
    std::string name{};  // shown above the line; may be empty
    bool is_limit{};     // drawn solid; false: dashed
};

// Alternatives below each other on one axis. Each is a dot with its interval.
struct DotPicture {
    struct Row {
        std::string name;
        double value{};
        double low{};  // `low` and `high`: ends of the interval; without an interval, both are `value`
        double high{};
        std::string text;  // shown beside the dot
        Tone tone{Tone::plain};
    };
    std::vector<Row> rows{};
    std::string quantity{};
    model::Unit unit{};
    double from{};  // `from` and `to`: ends of the axis
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
    bool has_texts{};  // whether there are few enough columns to show texts in the cells
};

using Picture = std::variant<std::monostate, DotPicture, HeatPicture>;  // monostate: a chart of curves

struct AxisMark {
    double at{};
    std::string text;
};

// Returns at most eight values to mark on a logarithmic axis between two ends above 0. If `to` is less than five times
// `from`, the values are even steps. Otherwise they are powers of two for bytes, and powers of ten for all other units.
// If `to` is less than 100 times `from`, 2 and 5 times the powers of ten are marked too.
[[nodiscard]] std::vector<double> log_marks(model::Unit unit, double from, double to);

// Returns two to eight round values between the ends of the picture's axis. On a logarithmic axis both ends must be
// above 0.
[[nodiscard]] std::vector<AxisMark> axis_marks(const DotPicture& picture);

}  // namespace memsweep::reporters
