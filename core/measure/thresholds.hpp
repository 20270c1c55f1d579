// How large a change must be before it matters: relative and absolute at once, so that 1 page fault becoming 2 is not
// reported as "+100 %".
//
// Units    relative: a fraction of the base's median; absolute: the metric's unit.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "core/model/metric.hpp"

namespace memsweep::measure {

struct Threshold {
    double relative{};
    double absolute{};
};

// By metric name, of a named point POINT.METRIC; a metric that is not named keeps its default.
using Thresholds = std::map<std::string, Threshold, std::less<>>;

// Times and bandwidths 5 %; noisy sizes (working set) 2 % and 1 MiB; minor faults 2 % and 64; faults per array 2 % and
// 1; major faults 1; queue depth 5 % and 1; exact counters 0.
[[nodiscard]] Threshold default_threshold(const model::Metric& metric);
[[nodiscard]] Threshold threshold_for(const Thresholds& chosen, const model::Metric& metric);

// True when the change is more than the relative and at least the absolute threshold, and not 0.
[[nodiscard]] bool beyond(const Threshold& threshold, double base, double change);

// "2 % and 1.00 MiB", "5 %", "1", or "0" when every change counts.
[[nodiscard]] std::string to_text(const Threshold& threshold, model::Unit unit);

}  // namespace memsweep::measure
