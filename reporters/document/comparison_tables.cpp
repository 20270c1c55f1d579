#include "reporters/document/comparison_parts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/measure/format.hpp"
#include "core/measure/time_contrast.hpp"
#include "reporters/text/number_text.hpp"
#include "reporters/wording/shift_words.hpp"

namespace memsweep::reporters {
namespace {

using measure::Comparison;
using measure::MetricComparison;
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
    return parts.empty() ? std::string{"."} : fmt::format("; {}.", listed(parts));
}

// How many metrics were judged: neither verdicts on whole cases nor what is only told are among them.
std::size_t judged_count(const Comparison& comparison)
{
    return static_cast<std::size_t>(std::ranges::count_if(comparison.metrics, [](const MetricComparison& metric) {
        return !metric.metric.empty() && metric.verdict != Verdict::informational;
    }));
}

std::string regression_text(const Comparison& comparison)
{
    const std::size_t regressed = measure::count(comparison, Verdict::regressed);
    const std::size_t failing = measure::count(comparison, Verdict::newly_failing);
    std::string text = regressed > 0
                           ? fmt::format("{} of {} regressed", regressed, plural(judged_count(comparison), "metric"))
                           : std::string{};
    if (failing > 0) {
        text += fmt::format("{}{} newly failing", text.empty() ? "" : ", and ", plural(failing, "case"));
    }
    return text;
}

// Nothing that was judged became worse, and of some of it that could not be told.
std::string open_text(const Comparison& comparison, std::size_t open)
{
    const std::string untold =
        fmt::format("{} of {} could not be told", open, plural(judged_count(comparison), "metric"));
    return fmt::format("{}: {}{}",
                       measure::count(comparison, Verdict::improved) > 0 ? "No regression shown" : "Nothing shown",
                       untold, rest(comparison, Verdict::inconclusive));
}

Cell interval_cell(const MetricComparison& metric)
{
    if (!metric.shift) {
        return {};
    }
    const Interval& ends = metric.shift->interval;
    if (!metric.shift->is_ratio) {
        return {.text = interval_text(ends, "..", [&](double end) { return shift_text(metric, end); })};
    }
    return {.text = interval_text(ends, "..", factor_text), .exact = interval_text(ends, " .. ", number_text)};
}

// A factor, unless it would read 1.00x.
std::string effect_text(const MetricComparison& metric)
{
    const measure::Shift& shift = *metric.shift;
    const bool reads_as_one = shift.is_ratio && factor_text(shift.estimate) == factor_text(1);
    const bool is_judged = metric.verdict != Verdict::insufficient;
    if (reads_as_one && (metric.verdict == Verdict::same || (is_judged && !shift.interval && shift.estimate == 1))) {
        return "the same";
    }
    if (reads_as_one && shift.interval && measure::includes_one(shift)) {
        return "within noise";
    }
    return shift.interval ? shift_text(metric, shift.estimate)
                          : brief_shift_text(metric.unit, shift, *metric.base_median);
}

Cell effect_cell(const MetricComparison& metric)
{
    if (!metric.shift) {
        return {};
    }
    return {.text = effect_text(metric),
            .exact = number_text(metric.shift->estimate),
            .tone = metric.verdict == Verdict::insufficient ? Tone::plain : tone_of(metric.verdict)};
}

std::vector<Cell> row_of(const MetricComparison& metric)
{
    return {{.text = metric.metric},
            value_cell(metric.base_median, metric.unit),
            value_cell(metric.candidate_median, metric.unit),
            effect_cell(metric),
            interval_cell(metric),
            verdict_cell(metric.verdict)};
}

Table empty_table(const Comparison& comparison, std::string title)
{
    return {.title = std::move(title),
            .note = comparison.is_in_rounds
                        ? "ratio: of what varies, the median of the rounds' ratios, not the ratio of the medians"
                        : "",
            .columns = {Column::word_key("metric"), Column::number("base"), Column::number("candidate"),
                        Column::number("ratio"), Column::number("95 % interval"), Column::verdict("verdict")}};
}

}  // namespace

Headline headline(const Comparison& comparison)
{
    switch (measure::outcome(comparison)) {
    case measure::ComparisonOutcome::regressed:
        return {regression_text(comparison) + rest(comparison, Verdict::regressed), Tone::bad};
    case measure::ComparisonOutcome::no_verdict: {
        const std::size_t few = measure::count(comparison, Verdict::insufficient);
        const std::string text = few == 0 ? std::string{"No verdict: nothing could be judged"}
                                          : fmt::format("No verdict on {} of {}: too few repetitions", few,
                                                        plural(judged_count(comparison), "metric"));
        return {text + rest(comparison, Verdict::insufficient), Tone::caution};
    }
    case measure::ComparisonOutcome::passed:
        break;
    }
    if (const std::size_t open = measure::count(comparison, Verdict::inconclusive); open > 0) {
        return {open_text(comparison, open), Tone::caution};
    }
    return {fmt::format("No regression in {}{}", plural(judged_count(comparison), "metric"),
                        rest(comparison, Verdict::regressed)),
            Tone::good};
}

std::string shift_text(const MetricComparison& metric, double value)
{
    if (metric.shift->is_ratio) {
        return factor_text(value) + "x";
    }
    return (value > 0 ? "+" : "") + value_text(value, metric.unit);
}

std::string case_title(const Comparison& comparison, const measure::ComparedCase& one)
{
    if (!comparison.is_between) {
        return one.label;
    }
    const std::string values = fmt::format("{} against {}", comparison.candidate.name, comparison.base.name);
    return one.label.empty() ? fmt::format("{}: {}", one.scenario, values)
                             : fmt::format("{} ({}): {}", one.scenario, one.label, values);
}

std::vector<CaseTable> case_tables(const ComparisonReport& report, const Comparison& comparison)
{
    std::vector<CaseTable> tables;
    for (const MetricComparison* metric : shown(report, comparison)) {
        if (metric->metric.empty()) {
            continue;
        }
        if (tables.empty() || metric->pair != tables.back().pair) {
            tables.push_back(
                {metric->pair, empty_table(comparison, case_title(comparison, comparison.cases[metric->pair]))});
        }
        tables.back().table.rows.push_back(row_of(*metric));
        tables.back().is_changed = tables.back().is_changed || measure::is_change(metric->verdict);
    }
    return tables;
}

}  // namespace memsweep::reporters
