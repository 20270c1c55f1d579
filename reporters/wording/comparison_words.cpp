#include "reporters/wording/comparison_words.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/quantity.hpp"
#include "core/measure/format.hpp"
#include "reporters/wording/reason_words.hpp"
#include "reporters/wording/shift_words.hpp"
#include "reporters/wording/time_words.hpp"

namespace memsweep::reporters {
namespace {

using measure::counted;
using measure::format_difference;
using measure::format_value;
using measure::MetricComparison;
using measure::MetricEffect;
using measure::Shift;
using measure::Verdict;

constexpr std::size_t max_metrics = 4;  // named in one sentence

std::string changed_text(const MetricEffect& metric)
{
    return metric.effect ? shift_text(metric.unit, *metric.effect, *metric.base_value, *metric.value) : std::string{};
}

// "wall_time 1.10x (...), cpu_time 1.08x (...) and 3 more regressed"; empty when no metric has that verdict.
std::string metrics_part(const std::vector<MetricEffect>& metrics, Verdict verdict)
{
    std::vector<std::string> texts;
    std::size_t found = 0;
    for (const MetricEffect& metric : metrics) {
        if (metric.verdict == verdict && ++found <= max_metrics) {
            texts.push_back(fmt::format("{} {}", metric.metric, changed_text(metric)));
        }
    }
    if (found == 0) {
        return {};
    }
    const std::string more = found > max_metrics ? fmt::format(" and {} more", found - max_metrics) : std::string{};
    return fmt::format("{}{} {}", fmt::join(texts, ", "), more, model::name_of(verdict));
}

std::string names_part(const std::vector<MetricEffect>& metrics, Verdict verdict)
{
    std::vector<std::string_view> names;
    for (const MetricEffect& metric : metrics) {
        if (metric.verdict == verdict) {
            names.push_back(metric.metric);
        }
    }
    return names.empty() ? std::string{} : fmt::format("{} {}", fmt::join(names, ", "), model::name_of(verdict));
}

std::string side_text(std::string_view side, std::uint64_t n, std::optional<double> median, model::Unit unit)
{
    return median ? fmt::format("{}: n = {}, median {}", side, n, format_value(unit, *median))
                  : fmt::format("{}: no value", side);
}

std::string effect_sentence(const MetricComparison& metric)
{
    const Shift& shift = *metric.shift;
    const auto shown = [&](double value) { return signed_change(metric.unit, shift.is_ratio, value, 2); };
    if (!shift.interval) {
        const double change = *metric.candidate_median - *metric.base_median;
        const std::string difference = shift.is_ratio && change != 0
                                           ? fmt::format(" ({})", format_difference(metric.unit, change))
                                           : std::string{};
        return fmt::format("effect: {}{}{}", shown(shift.estimate), difference,
                           metric.metric_class == model::MetricClass::exact
                               ? " of the medians; an exact counter needs no interval"
                               : "; too few values for an interval");
    }
    return fmt::format("effect: {} (Hodges-Lehmann), 95 % interval {} to {}", shown(shift.estimate),
                       shown((*shift.interval)[0]), shown((*shift.interval)[1]));
}

std::string test_sentence(const MetricComparison& metric, std::size_t family)
{
    return fmt::format("test: Mann-Whitney p = {:.2g}; q = {:.2g} among {}; at most {} counts as shown", *metric.p,
                       *metric.q, counted(family, "noisy metric"), measure::significance);
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
        return fmt::format("needed: {0} repetitions of each side (-n {0}), or fewer metrics (--metric)",
                           measure::repetitions_needed(family));
    case Verdict::inconclusive: {
        if (metric.busier_machine) {
            return "needed: both sides measured on a machine as quiet";
        }
        const std::size_t n = measure::repetitions_to_settle(metric, family);
        return n == 0 ? std::string{"needed: less noise; more repetitions alone are unlikely to settle it"}
                      : fmt::format("needed: about {0} repetitions of each side (-n {0}), if the scatter stays", n);
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

}  // namespace

std::vector<std::string> changed_case_parts(const measure::Finding& finding, const measure::ChangedCase& changed)
{
    std::vector<MetricEffect> metrics = finding.metrics;
    if (metrics.size() == 1 && metrics.front().metric.empty()) {
        return {fmt::format("{}: {}", model::name_of(*metrics.front().verdict), reason_text(finding.reason))};
    }
    const bool is_slower = std::ranges::any_of(metrics, [](const MetricEffect& metric) {
        return measure::is_time(metric.metric) && metric.verdict == Verdict::regressed;
    });
    if (changed.is_between) {  // the time has a part of its own
        std::erase_if(metrics, [](const MetricEffect& metric) { return measure::is_time(metric.metric); });
    }
    std::vector<std::string> parts{metrics_part(metrics, Verdict::regressed), metrics_part(metrics, Verdict::improved),
                                   names_part(metrics, Verdict::missing), names_part(metrics, Verdict::added)};
    // The time is what the sentence begins with, unless something else is what regressed.
    const bool begins_with_time = changed.is_between && (is_slower || parts.front().empty());
    const auto place = begins_with_time ? 0 : 1;
    if (changed.attribution) {
        parts.insert(parts.begin() + place, cause_text(*changed.attribution));
    }
    if (changed.time) {
        parts.insert(parts.begin() + place, time_part(*changed.time, finding.base));
    }
    std::erase(parts, std::string{});
    return parts;
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
        sentences.push_back(fmt::format("allowed: {}", threshold_text(metric.threshold, metric.unit)));
    }
    if (metric.p && metric.q) {
        sentences.push_back(test_sentence(metric, family));
    }
    sentences.push_back(fmt::format("{}: {}", model::name_of(metric.verdict), reason_text(metric.reason)));
    if (metric.extra) {
        sentences.push_back(fmt::format("of the {}'s extra time: {}", metric.is_base_slower ? "base" : "candidate",
                                        cause_text(*metric.extra)));
    }
    if (std::string advice = needed(metric, family); !advice.empty()) {
        sentences.push_back(std::move(advice));
    }
    return sentences;
}

}  // namespace memsweep::reporters
