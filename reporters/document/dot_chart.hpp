// A chart of alternatives, such as cases. Each alternative is a dot with its interval, on one common axis. The value is
// written beside the dot.
#pragma once

#include <string>
#include <vector>

#include "core/model/metric.hpp"
#include "reporters/document/chart.hpp"
#include "reporters/document/table.hpp"

namespace memsweep::reporters {

struct Dot {
    std::string name{};  // unique, and made by inert_text()
    double value{};
    Interval interval{};
    std::string objection{};  // shown behind the value: ", does not fit"; if set, the dot has the colour for bad values
    std::string text{};       // the value as shown; empty: as value_text() writes it
};

struct DotAxis {
    std::string quantity;  // "wall time"
    model::Unit unit{};
    std::string alternative;  // what a dot stands for: "case", "policy"
    std::string value;        // what a dot's value is: "median"
    std::string about;        // how to read it, in whole sentences
    std::vector<PictureLine> lines{};
};

// Needs at least one dot, and finite values. The title is of the form "Wall time by case". The axis is logarithmic if
// the largest value, end of an interval or line is more than thirty times the smallest, and all are above 0. Otherwise
// the axis begins at 0. If no dot has an interval, the table has no column of intervals.
[[nodiscard]] Chart dot_chart(const DotAxis& axis, const std::vector<Dot>& dots);

}  // namespace memsweep::reporters
