// A chart of alternatives, such as cases. Each is a dot with its interval on one common axis; the value stands beside
// the dot in words.
#pragma once

#include <string>
#include <vector>

#include "core/model/metric.hpp"
#include "reporters/document/chart.hpp"
#include "reporters/document/table.hpp"

namespace memsweep::reporters {

struct Dot {
    std::string name{};  // unique, and inert (escaping.hpp)
    double value{};
    Interval interval{};
    std::string objection{};  // ", does not fit": shown behind the value, and the dot has the colour of what is bad
};

struct DotAxis {
    std::string quantity;  // "wall time"
    model::Unit unit{};
    std::string alternative;  // what a dot stands for: "case", "policy"
    std::string value;        // what a dot's value is: "median"
    std::string about;        // how to read it, in whole sentences
    std::vector<PictureLine> lines{};
};

// Needs at least one dot, and finite values. The title is "Wall time by case". The axis is logarithmic if the largest
// value is thirty times the smallest, else it begins at 0. If no dot has an interval, the table has no column of
// intervals.
[[nodiscard]] Chart dot_chart(const DotAxis& axis, const std::vector<Dot>& dots);

}  // namespace memsweep::reporters
