#include "reporters/document/comparison_report.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reporters/document/value_text.hpp"

namespace memsweep::reporters {
namespace {

using measure::Comparison;
using measure::Verdict;

// "30 the same, 2 inconclusive": every verdict but the one that the sentence began with.
std::string rest(const Comparison& comparison, Verdict told)
{
    static constexpr std::array<std::pair<Verdict, std::string_view>, 9> words{
        {{Verdict::improved, "improved"},
         {Verdict::same, "the same"},
         {Verdict::inconclusive, "inconclusive"},
         {Verdict::insufficient, "with too few repetitions"},
         {Verdict::added, "added"},
         {Verdict::missing, "missing"},
         {Verdict::fixed, "fixed"},
         {Verdict::not_comparable, "not comparable"},
         {Verdict::informational, "informational"}}};
    std::vector<std::string> parts;
    for (const auto& [verdict, word] : words) {
        const std::size_t found = measure::count(comparison, verdict);
        if (found > 0 && verdict != told) {
            parts.push_back(fmt::format("{} {}", found, word));
        }
    }
    return parts.empty() ? std::string{"."} : fmt::format("; {}.", fmt::join(parts, ", "));
}

// Of metrics: verdicts on whole cases are not among them.
std::size_t metric_count(const Comparison& comparison)
{
    std::size_t found = 0;
    for (const measure::MetricComparison& metric : comparison.metrics) {
        found += metric.metric.empty() ? 0U : 1U;
    }
    return found;
}

std::string regression_text(const Comparison& comparison)
{
    const std::size_t regressed = measure::count(comparison, Verdict::regressed);
    const std::size_t failing = measure::count(comparison, Verdict::newly_failing);
    std::string text = regressed > 0
                           ? fmt::format("{} of {} regressed", regressed, plural(metric_count(comparison), "metric"))
                           : std::string{};
    if (failing > 0) {
        text += fmt::format("{}{} newly failing", text.empty() ? "" : ", and ", plural(failing, "case"));
    }
    return text;
}

}  // namespace

Headline headline(const Comparison& comparison)
{
    switch (measure::outcome(comparison)) {
    case measure::Outcome::regressed:
        return {regression_text(comparison) + rest(comparison, Verdict::regressed), Tone::bad};
    case measure::Outcome::no_verdict: {
        const std::size_t few = measure::count(comparison, Verdict::insufficient);
        const std::string text = few == 0 ? std::string{"No verdict: nothing could be judged"}
                                          : fmt::format("No verdict on {} of {}: too few repetitions", few,
                                                        plural(metric_count(comparison), "metric"));
        return {text + rest(comparison, Verdict::insufficient), Tone::caution};
    }
    case measure::Outcome::passed:
        break;
    }
    return {fmt::format("No regression in {}{}", plural(metric_count(comparison), "metric"),
                        rest(comparison, Verdict::regressed)),
            Tone::good};
}

std::vector<const measure::MetricComparison*> shown(const ComparisonReport& report, const Comparison& comparison)
{
    std::vector<const measure::MetricComparison*> metrics;
    for (const measure::MetricComparison& metric : comparison.metrics) {
        if (!report.only_changed || measure::is_change(metric.verdict)) {
            metrics.push_back(&metric);
        }
    }
    return metrics;
}

std::string side_text(const measure::Side& side)
{
    std::string facts = side.started;
    if (!side.host.empty()) {
        facts += (facts.empty() ? "" : ", ") + side.host;
    }
    return facts.empty() ? side.name : fmt::format("{} ({})", side.name, facts);
}

}  // namespace memsweep::reporters
