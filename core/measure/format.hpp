// Values and changes as sentences show them.
#pragma once

#include <string>

#include "core/model/metric.hpp"

namespace memsweep::measure {

// "762.9 MiB", "18.0 ms", "13.4 GB/s", "1,953", "12.5 op/s".
[[nodiscard]] std::string format_value(model::Unit unit, double value);

// "+64", "-1.0 ms": a difference.
[[nodiscard]] std::string format_difference(model::Unit unit, double difference);

// "5 %", "0.5 %": a fraction in percent, without digits that say nothing.
[[nodiscard]] std::string format_percent(double fraction);

// "153", "7.2", "1.04", "0.71": finer where factors lie near 1.
[[nodiscard]] std::string format_factor(double factor);

// "after_drop" in a sentence: "after drop".
[[nodiscard]] std::string spoken(std::string name);

}  // namespace memsweep::measure
