#include "core/measure/comparison.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/measure/format.hpp"

namespace memsweep::measure {
namespace {

constexpr double max_settling_repetitions = 1000;

std::string side_text(std::string_view side, std::uint64_t n, std::optional<double> median, model::Unit unit)
{
    return median ? fmt::format("{}: n = {}, median {}", side, n, format_value(unit, *median))
                  : fmt::format("{}: no value", side);
}

std::string signed_change(const MetricComparison& metric, double value)
{
    if (metric.shift->is_ratio) {
        return value >= 2 ? format_factor(value) + "x" : fmt::format("{:+.2f} %", (value - 1) * 100);
    }
    return format_difference(metric.unit, value);
}

std::string effect_sentence(const MetricComparison& metric)
{
    const Shift& shift = *metric.shift;
    if (!shift.interval) {
        return metric.metric_class == model::MetricClass::exact
                   ? fmt::format("effect: {} of the medians; an exact counter needs no interval",
                                 signed_change(metric, shift.estimate))
                   : fmt::format("effect: {}; too few values for an interval", signed_change(metric, shift.estimate));
    }
    return fmt::format("effect: {} (Hodges-Lehmann), 95 % interval {} to {}", signed_change(metric, shift.estimate),
                       signed_change(metric, (*shift.interval)[0]), signed_change(metric, (*shift.interval)[1]));
}

std::string test_sentence(const MetricComparison& metric, std::size_t family)
{
    return fmt::format("test: Mann-Whitney p = {:.2g}; q = {:.2g} among {} noisy metric{}; at most {} counts as shown",
                       *metric.p, *metric.q, family, family == 1 ? "" : "s", significance);
}

// The change that the threshold would have to allow, as a fraction of the base's median.
double worst_fraction(const MetricComparison& metric)
{
    const double base = std::fabs(*metric.base_median);
    const Shift& shift = *metric.shift;
    const double change = shift.is_ratio ? shift.estimate - 1 : shift.estimate / base;
    return std::fabs(change);
}

// "11%": the next whole percentage, or tenth of one below 1 %, above the change.
std::string allowing_percent(double fraction)
{
    const double percent = fraction * 100;
    return percent < 1 ? fmt::format("{:.1f}%", std::floor(percent * 10 + 1) / 10)
                       : fmt::format("{:.0f}%", std::floor(percent + 1));
}

std::string threshold_advice(const MetricComparison& metric)
{
    if (*metric.base_median == 0) {
        return "no relative threshold helps: the base is 0";
    }
    return fmt::format("it would pass with --threshold {}={}", metric.metric, allowing_percent(worst_fraction(metric)));
}

std::string needed(const MetricComparison& metric, std::size_t family)
{
    switch (metric.verdict) {
    case Verdict::regressed:
        return threshold_advice(metric);
    case Verdict::insufficient:
        return fmt::format("needed: {} repetitions of each side (-n {}), or fewer metrics (--metric)",
                           repetitions_needed(family), repetitions_needed(family));
    case Verdict::inconclusive: {
        const std::size_t n = repetitions_to_settle(metric, family);
        return n == 0 ? std::string{"needed: less noise; more repetitions alone are unlikely to settle it"}
                      : fmt::format("needed: about {} repetitions of each side (-n {}), if the scatter stays", n, n);
    }
    case Verdict::improved:
    case Verdict::same:
    case Verdict::added:
    case Verdict::missing:
    case Verdict::newly_failing:
    case Verdict::fixed:
    case Verdict::not_comparable:
    case Verdict::informational:
        break;
    }
    return {};
}

// Half the interval's width, and how far it has to shrink, both in the effect's own scale.
struct Room {
    double half_width{};
    double available{};
};

Room room_of(const MetricComparison& metric)
{
    const Shift& shift = *metric.shift;
    const double none = shift.is_ratio ? 1 : 0;
    const double base = std::fabs(*metric.base_median);
    const double allowed =
        std::max(shift.is_ratio ? metric.threshold.relative : metric.threshold.relative * base,
                 shift.is_ratio && base > 0 ? metric.threshold.absolute / base : metric.threshold.absolute);
    const double effect = std::fabs(shift.estimate - none);
    const double half = ((*shift.interval)[1] - (*shift.interval)[0]) / 2;
    return {half, effect > allowed ? effect : allowed - effect};
}

}  // namespace

std::size_t repetitions_to_settle(const MetricComparison& metric, std::size_t family)
{
    if (metric.verdict != Verdict::inconclusive || !metric.shift || !metric.shift->interval) {
        return 0;
    }
    const Room room = room_of(metric);
    if (room.available <= 0) {
        return 0;
    }
    const auto n = static_cast<double>(std::min(metric.base_n, metric.candidate_n));
    const double factor = room.half_width / room.available;
    const double wanted = std::ceil(n * std::max(factor * factor, 1.0)) + 1;
    if (!(wanted <= max_settling_repetitions)) {
        return 0;
    }
    return std::max(static_cast<std::size_t>(wanted), repetitions_needed(family));
}

std::vector<std::string> explanation(const MetricComparison& metric, std::size_t family)
{
    std::vector<std::string> sentences;
    if (!metric.metric.empty()) {
        sentences.push_back(side_text("base", metric.base_n, metric.base_median, metric.unit) + "; " +
                            side_text("candidate", metric.candidate_n, metric.candidate_median, metric.unit));
    }
    if (metric.shift) {
        sentences.push_back(effect_sentence(metric));
        sentences.push_back(fmt::format("allowed: {}", to_text(metric.threshold, metric.unit)));
    }
    if (metric.p && metric.q) {
        sentences.push_back(test_sentence(metric, family));
    }
    sentences.push_back(fmt::format("{}: {}", model::name_of(metric.verdict), metric.why));
    if (!metric.cause.empty()) {
        sentences.push_back(metric.cause);
    }
    if (std::string advice = needed(metric, family); !advice.empty()) {
        sentences.push_back(std::move(advice));
    }
    return sentences;
}

}  // namespace memsweep::measure
