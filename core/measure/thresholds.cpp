#include "core/measure/thresholds.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
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

std::optional<double> decimal(std::string_view text)
{
    double value{};
    const char* end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
    const bool whole = problem == std::errc{} && stop == end && !text.empty() && text.front() != '-';
    return whole && std::isfinite(value) ? std::optional{value} : std::nullopt;
}

std::string_view example_amount(model::Unit unit)
{
    switch (unit) {
    case model::Unit::bytes:
        return "1MiB";
    case model::Unit::seconds:
        return "2ms";
    case model::Unit::bytes_per_second:
        return "1GB/s";
    case model::Unit::one:
    case model::Unit::per_second:
        break;
    }
    return "64";
}

base::Expected<double> parse_amount(std::string_view text, model::Unit unit)
{
    if (unit == model::Unit::bytes) {
        return base::parse_size(text).map([](std::uint64_t bytes) { return static_cast<double>(bytes); });
    }
    if (unit == model::Unit::seconds) {
        return base::parse_duration(text).map(
            [](std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); });
    }
    if (unit == model::Unit::bytes_per_second) {
        return base::parse_rate(text);
    }
    if (const auto value = decimal(text)) {
        return *value;
    }
    return base::fail(base::ErrorCode::invalid_input, fmt::format("\"{}\" is not a number", text));
}

}  // namespace

Threshold default_threshold(std::string_view metric, model::Unit unit, model::MetricClass metric_class)
{
    if (metric_class == model::MetricClass::exact) {
        return {};
    }
    if (unit == model::Unit::bytes) {
        return {0.02, mebibyte};
    }
    const std::string_view of_point = metric.substr(metric.rfind('.') + 1);  // npos + 1 is 0
    const auto* found = std::ranges::find(named, of_point, &NamedThreshold::metric);
    return found == named.end() ? Threshold{0.05, 0} : found->threshold;
}

Threshold threshold_for(const Thresholds& chosen, std::string_view metric, model::Unit unit,
                        model::MetricClass metric_class)
{
    const auto found = chosen.find(metric);
    return found == chosen.end() ? default_threshold(metric, unit, metric_class) : found->second;
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

base::Expected<Threshold> parse_threshold(std::string_view text, model::Unit unit)
{
    constexpr std::size_t longest = 60;  // anything longer is no threshold; its message would only be long too
    const std::size_t comma = text.find(',');
    const std::string_view relative = text.substr(0, comma);
    const auto percent = relative.ends_with('%') ? decimal(relative.substr(0, relative.size() - 1)) : std::nullopt;
    if (!percent) {
        return base::fail(base::ErrorCode::invalid_input, fmt::format("\"{}\" is not a threshold; write 5% or 5%,{}",
                                                                      text.substr(0, longest), example_amount(unit)));
    }
    Threshold threshold{*percent / 100, 0};
    if (comma != std::string_view::npos) {
        const auto amount = parse_amount(text.substr(comma + 1).substr(0, longest), unit);
        if (!amount) {
            return base::fail(amount.error());
        }
        threshold.absolute = *amount;
    }
    return threshold;
}

}  // namespace memsweep::measure
