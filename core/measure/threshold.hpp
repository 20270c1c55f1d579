// Thresholds: how much a metric may differ before the difference counts as a change. Every metric has a default; users
// can choose others.
//
// Units    relative thresholds are fractions of the base's median; absolute ones are in the metric's unit.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "core/base/expected.hpp"
#include "core/model/metric.hpp"

namespace memsweep::measure {

// How large a change must be before it counts. A change must pass both the relative and the absolute part, so that a
// rise from 1 page fault to 2 is not reported as "+100 %".
struct Threshold {
    double relative{};
    double absolute{};
    // The most that the relative part allows, in the metric's unit. Without this limit, 0.1 % of a gigabyte, for
    // example, would allow a change of a whole megabyte.
    double at_most{std::numeric_limits<double>::infinity()};
};

// Thresholds by metric name, or by POINT.METRIC for a named point. Metrics that are not listed keep their defaults.
using Thresholds = std::map<std::string, Threshold, std::less<>>;

// Returns the default of a metric. The defaults are, as the relative part, the absolute part, or both:
//   times of one event            5 %, 100 ns
//   noisy sizes (working set)     2 %, 1 MiB
//   minor faults                  2 %, 64
//   faults over the expected      2 %, 64
//   faults per array              2 %, 1
//   major faults                  1
//   queue depth                   5 %, 1
//   other noisy metrics           5 %
//   exact sizes                   0.1 %, but at most 4 KiB
//   other exact counters          0
[[nodiscard]] Threshold default_threshold(std::string_view metric, model::Unit unit, model::MetricClass metric_class);
// Whether a metric is the time of a single event (a latency, a pause) and not of the whole case.
[[nodiscard]] bool is_of_one_event(std::string_view metric);
// Returns the threshold that the user chose for the metric, else the metric's default.
[[nodiscard]] Threshold threshold_for(const Thresholds& chosen, std::string_view metric, model::Unit unit,
                                      model::MetricClass metric_class);

// Whether a change counts, which needs three things: the change is not 0; it is at least the absolute part; it exceeds
// the relative part or `at_most`, whichever allows less.
[[nodiscard]] bool beyond(const Threshold& threshold, double base, double change);

// Parses a threshold as users write it: "5%", "2%,1MiB", "0%,64".
//
// Grammar  PERCENT "%" ["," AMOUNT]. The percentage is a decimal number without a sign. The amount is in the metric's
//          unit: a size, a duration, a rate, or a plain number for counts.
// Errors   invalid_input: the message names the part that does not parse and shows a valid form.
[[nodiscard]] base::Expected<Threshold> parse_threshold(std::string_view text, model::Unit unit);

}  // namespace memsweep::measure
