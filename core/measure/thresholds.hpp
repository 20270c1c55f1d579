// How large a change must be before it matters: relative and absolute at once, so that 1 page fault becoming 2 is not
// reported as "+100 %".
//
// Units    relative: a fraction of the base's median; absolute: the metric's unit.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "core/base/expected.hpp"
#include "core/model/metric.hpp"

namespace memsweep::measure {

struct Threshold {
    double relative{};
    double absolute{};
};

// By the name of the metric, or POINT.METRIC for a named point. A metric that is not named keeps its default.
using Thresholds = std::map<std::string, Threshold, std::less<>>;

// Times and bandwidths 5 %; noisy sizes (working set) 2 % and 1 MiB; minor faults 2 % and 64; faults per array 2 % and
// 1; major faults 1; queue depth 5 % and 1; exact counters 0.
[[nodiscard]] Threshold default_threshold(std::string_view metric, model::Unit unit, model::MetricClass metric_class);
[[nodiscard]] Threshold threshold_for(const Thresholds& chosen, std::string_view metric, model::Unit unit,
                                      model::MetricClass metric_class);

// True when the change is more than the relative and at least the absolute threshold, and not 0.
[[nodiscard]] bool beyond(const Threshold& threshold, double base, double change);

// "2 % and 1.00 MiB", "5 %", "1", or "0" when every change counts.
[[nodiscard]] std::string to_text(const Threshold& threshold, model::Unit unit);

// A threshold as people write it: "5%", "2%,1MiB", "0%,64".
//
// Grammar  PERCENT "%" ["," AMOUNT]; the percentage is a decimal number without a sign, the amount is in the metric's
//          unit: a size, a duration, a rate, or a plain number for counts.
// Errors   invalid_input: what does not parse, and what would.
[[nodiscard]] base::Expected<Threshold> parse_threshold(std::string_view text, model::Unit unit);

}  // namespace memsweep::measure
