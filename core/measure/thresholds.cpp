#include "core/measure/thresholds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "core/measure/format.hpp"

namespace memsweep::measure {
namespace {

constexpr double mebibyte = 1024.0 * 1024.0;

struct NamedThreshold {
    std::string_view metric;
    Threshold threshold;
};
// Times of one event lie between two readings of the clock, which take some 20 ns each and come in steps: draining
// nothing takes 50 to 150 ns, and no 5 % of that is a change.
constexpr Threshold one_event{0.05, 100e-9};
constexpr std::array<NamedThreshold, 11> named{{{"minor_faults", {0.02, 64}},
                                                {"faults_over_expected", {0.02, 64}},
                                                {"faults_per_op", {0.02, 1}},
                                                {"major_faults", {0, 1}},
                                                {"queue_depth_peak", {0.05, 1}},
                                                {"drain_time", one_event},
                                                {"release_latency", one_event},
                                                {"release_latency_p95", one_event},
                                                {"release_latency_max", one_event},
                                                {"gc_pause_time", one_event},
                                                {"gc_pause_max", one_event}}};

}  // namespace

Threshold default_threshold(const model::Metric& metric)
{
    if (metric.metric_class == model::MetricClass::exact) {
        return {};
    }
    if (metric.unit == model::Unit::bytes) {
        return {0.02, mebibyte};
    }
    const std::string_view name{metric.name};
    const std::string_view of_point = name.substr(name.rfind('.') + 1);  // npos + 1 is 0
    const auto* found = std::ranges::find(named, of_point, &NamedThreshold::metric);
    return found == named.end() ? Threshold{0.05, 0} : found->threshold;
}

Threshold threshold_for(const Thresholds& chosen, const model::Metric& metric)
{
    const auto found = chosen.find(metric.name);
    return found == chosen.end() ? default_threshold(metric) : found->second;
}

bool beyond(const Threshold& threshold, double base, double change)
{
    const double size = std::fabs(change);
    return size > threshold.relative * std::fabs(base) && size >= threshold.absolute && size > 0;
}

std::string to_text(const Threshold& threshold, model::Unit unit)
{
    std::string absolute = format_value(unit, threshold.absolute);
    if (threshold.relative <= 0) {
        return absolute;
    }
    const std::string relative = format_percent(threshold.relative);
    return threshold.absolute > 0 ? fmt::format("{} and {}", relative, absolute) : relative;
}

}  // namespace memsweep::measure
