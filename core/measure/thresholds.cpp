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
constexpr std::array<NamedThreshold, 5> counts{{{"minor_faults", {0.02, 64}},
                                                {"faults_over_expected", {0.02, 64}},
                                                {"faults_per_op", {0.02, 1}},
                                                {"major_faults", {0, 1}},
                                                {"queue_depth_peak", {0.05, 1}}}};

}  // namespace

Threshold default_threshold(const model::Metric& metric)
{
    if (metric.metric_class == model::MetricClass::exact) {
        return {};
    }
    if (metric.unit == model::Unit::bytes) {
        return {0.02, mebibyte};
    }
    const auto* found = std::ranges::find(counts, metric.name, &NamedThreshold::metric);
    return found == counts.end() ? Threshold{0.05, 0} : found->threshold;
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
