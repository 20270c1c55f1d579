// Names and labels of time series, from whatever a result calls its metrics and axes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model/report.hpp"

namespace memsweep::reporters {

// One metric of a result under the name of its series.
struct Family {
    std::string metric;
    model::Unit unit{};
    std::string name;  // "memsweep_wall_time_seconds"
};

[[nodiscard]] std::string_view unit_word(model::Unit unit);  // "seconds"; empty for plain numbers

// Every metric with a median of the cases that ended ok, in order of appearance; no name is used twice, nor one of
// `taken`.
[[nodiscard]] std::vector<Family> families(const model::RunReport& report, const std::vector<std::string>& taken);

// `scenario="churn",mode="refcount"` of each case, in their order, no two alike.
[[nodiscard]] std::vector<std::string> label_sets(const model::RunReport& report);

[[nodiscard]] std::string label(std::string_view name, std::string_view value);  // name="value", the value escaped

}  // namespace memsweep::reporters
