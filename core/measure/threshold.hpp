// Says how much each metric may differ before that counts as a change: by default, and if the user chose a threshold.
//
// Units    relative thresholds: a fraction of the base's median; absolute ones: the metric's unit.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "core/base/expected.hpp"
#include "core/model/metric.hpp"

namespace memsweep::measure {

// How large a change must be before it matters. Both parts must be exceeded, so that 1 page fault becoming 2 is not
// reported as "+100 %". `at_most` limits what the relative part allows, because 0.1 % of a gigabyte is too much to
// forgive.
struct Threshold {
    double relative{};
    double absolute{};
    double at_most{std::numeric_limits<double>::infinity()};
};

// Thresholds by the name of the metric, or POINT.METRIC for a named point. A metric that is not named keeps its
// default.
using Thresholds = std::map<std::string, Threshold, std::less<>>;

// Times and bandwidths 5 %; noisy sizes (working set) 2 % and 1 MiB; minor faults 2 % and 64; faults per array 2 % and
// 1; major faults 1; queue depth 5 % and 1; exact sizes 0.1 % but at most 4 KiB; other exact counters 0.
[[nodiscard]] Threshold default_threshold(std::string_view metric, model::Unit unit, model::MetricClass metric_class);
// Whether a metric is the time of one event (a latency, a pause), and not of all that a case does.
[[nodiscard]] bool is_of_one_event(std::string_view metric);
[[nodiscard]] Threshold threshold_for(const Thresholds& chosen, std::string_view metric, model::Unit unit,
                                      model::MetricClass metric_class);

// True if the change is not 0, at least the absolute threshold, and more than the relative one (or than `at_most`, if
// that is less).
[[nodiscard]] bool beyond(const Threshold& threshold, double base, double change);

// A threshold as people write it: "5%", "2%,1MiB", "0%,64".
//
// Grammar  PERCENT "%" ["," AMOUNT]. The percentage is a decimal number without a sign. The amount is in the metric's
//          unit: a size, a duration, a rate, or a plain number for counts.
// Errors   invalid_input: the message says what does not parse, and what would.
[[nodiscard]] base::Expected<Threshold> parse_threshold(std::string_view text, model::Unit unit);

}  // namespace memsweep::measure
