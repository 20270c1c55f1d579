#include "core/measure/threshold.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <optional>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/model/metric_id.hpp"

namespace memsweep::measure {
namespace {

using model::Unit;

constexpr double mebibyte = 1024.0 * 1024.0;

// A program's sizes are exact and yet follow what is not the program's: the length of its own name, of a folder's.
constexpr Threshold exact_size{.relative = 0.001, .absolute = 0, .at_most = 4096};

struct NamedThreshold {
    std::string_view metric;
    Threshold threshold;
};
// Times of one event lie between two readings of the clock, which take some 20 ns each and come in steps: draining
// nothing takes 50 to 150 ns, and no 5 % of that is a change.
constexpr Threshold one_event{0.05, 100e-9};
constexpr std::array<NamedThreshold, 5> named{{{model::metrics::minor_faults, {0.02, 64}},
                                               {model::metrics::faults_over_expected, {0.02, 64}},
                                               {model::metrics::faults_per_op, {0.02, 1}},
                                               {model::metrics::major_faults, {0, 1}},
                                               {model::metrics::queue_depth_peak, {0.05, 1}}}};

std::string_view without_point(std::string_view metric)
{
    return metric.substr(metric.rfind('.') + 1);  // npos + 1 is 0
}

std::optional<double> decimal(std::string_view text)
{
    double value{};
    const char* end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
    const bool whole = problem == std::errc{} && stop == end && !text.empty() && text.front() != '-';
    return whole && std::isfinite(value) ? std::optional{value} : std::nullopt;
}

std::string_view example_amount(Unit unit)
{
    switch (unit) {
    case Unit::bytes:
        return "1MiB";
    case Unit::seconds:
        return "2ms";
    case Unit::bytes_per_second:
        return "1GB/s";
    case Unit::one:
    case Unit::per_second:
        break;
    }
    return "64";
}

base::Expected<double> parse_amount(std::string_view text, Unit unit)
{
    if (unit == Unit::bytes) {
        return static_cast<double>(MEMSWEEP_TRY(base::parse_size(text)));
    }
    if (unit == Unit::seconds) {
        return std::chrono::duration<double>{MEMSWEEP_TRY(base::parse_duration(text))}.count();
    }
    if (unit == Unit::bytes_per_second) {
        return base::parse_rate(text);
    }
    if (const auto value = decimal(text)) {
        return *value;
    }
    return base::fail(base::ErrorCode::invalid_input, fmt::format("\"{}\" is not a number", text));
}

}  // namespace

Threshold default_threshold(std::string_view metric, Unit unit, model::MetricClass metric_class)
{
    if (metric_class == model::MetricClass::exact) {
        return unit == Unit::bytes ? exact_size : Threshold{};
    }
    if (unit == Unit::bytes) {
        return {0.02, mebibyte};
    }
    if (is_of_one_event(metric)) {
        return one_event;
    }
    const auto* found = std::ranges::find(named, without_point(metric), &NamedThreshold::metric);
    return found == named.end() ? Threshold{0.05, 0} : found->threshold;
}

bool is_of_one_event(std::string_view metric)
{
    return model::role_of(without_point(metric)) == model::Role::event;
}

Threshold threshold_for(const Thresholds& chosen, std::string_view metric, Unit unit, model::MetricClass metric_class)
{
    const auto found = chosen.find(metric);
    return found == chosen.end() ? default_threshold(metric, unit, metric_class) : found->second;
}

bool beyond(const Threshold& threshold, double base, double change)
{
    const double size = std::fabs(change);
    return size > std::min(threshold.relative * std::fabs(base), threshold.at_most) && size >= threshold.absolute &&
           size > 0;
}

base::Expected<Threshold> parse_threshold(std::string_view text, Unit unit)
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
        threshold.absolute = MEMSWEEP_TRY(parse_amount(text.substr(comma + 1).substr(0, longest), unit));
    }
    return threshold;
}

}  // namespace memsweep::measure
