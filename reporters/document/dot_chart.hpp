// A chart of alternatives: each is a dot on one axis, with its interval, and its value beside it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/metric.hpp"
#include "reporters/document/chart.hpp"
#include "reporters/document/table.hpp"

namespace memsweep::reporters {

struct Dot {
    std::string name{};  // inert and unique
    double value{};
    Interval interval{};
};

struct DotAxis {
    std::string quantity;  // "wall time"
    model::Unit unit{};
    std::string alternative;            // what each dot is: "case", "policy"
    std::string value;                  // what its value is: "median"
    std::string about;                  // how to read it, in whole sentences
    std::optional<double> reference{};  // a dashed line
};

// At least one dot; values are finite. The title is "Wall time by case". The axis is logarithmic where the largest
// value is thirty times the smallest, and begins at 0 otherwise. Without any interval the table has no column of them.
[[nodiscard]] Chart dot_chart(const DotAxis& axis, const std::vector<Dot>& dots);

}  // namespace memsweep::reporters
