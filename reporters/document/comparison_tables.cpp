#include "reporters/document/comparison_tables.hpp"

#include <cmath>

#include <fmt/format.h>

#include "core/measure/format.hpp"
#include "reporters/document/value_text.hpp"
#include "reporters/text/number_text.hpp"

namespace memsweep::reporters {
namespace {

using measure::Comparison;
using measure::MetricComparison;
using measure::Verdict;

// Fine enough to show a change of one page in a gigabyte, short where the factor is large.
std::string factor_text(double factor)
{
    const double distance = std::fabs(factor - 1);
    if (distance < 0.00005 || distance >= 0.005) {
        return measure::format_factor(factor);
    }
    return distance < 0.0005 ? fmt::format("{:.4f}", factor) : fmt::format("{:.3f}", factor);
}

Cell interval_cell(const MetricComparison& metric)
{
    if (!metric.shift || !metric.shift->interval) {
        return {};
    }
    const auto& [low, high] = *metric.shift->interval;
    if (metric.shift->is_ratio) {
        return {.text = fmt::format("{}..{}", factor_text(low), factor_text(high)),
                .exact = fmt::format("{} .. {}", number_text(low), number_text(high))};
    }
    return {.text = fmt::format("{}..{}", shift_text(metric, low), shift_text(metric, high))};
}

Cell effect_cell(const MetricComparison& metric)
{
    if (!metric.shift) {
        return {};
    }
    return {.text = shift_text(metric, metric.shift->estimate),
            .exact = number_text(metric.shift->estimate),
            .tone = tone_of(metric.verdict)};
}

std::vector<Cell> row_of(const MetricComparison& metric)
{
    return {{.text = metric.metric},
            value_cell(metric.base_median, metric.unit),
            value_cell(metric.candidate_median, metric.unit),
            effect_cell(metric),
            interval_cell(metric),
            {.text = std::string{model::name_of(metric.verdict)},
             .exact = {},
             .share = {},
             .tone = tone_of(metric.verdict)}};
}

Table empty_table(std::string title)
{
    Table table;
    table.title = std::move(title);
    table.columns = {{.title = "metric", .is_key = true, .is_word = true},
                     {.title = "base", .is_number = true},
                     {.title = "candidate", .is_number = true},
                     {.title = "ratio", .is_number = true},
                     {.title = "95 % interval", .is_number = true},
                     {.title = "verdict"}};
    return table;
}

}  // namespace

std::string shift_text(const MetricComparison& metric, double value)
{
    if (metric.shift->is_ratio) {
        return factor_text(value) + "x";
    }
    return (value > 0 ? "+" : "") + value_text(value, metric.unit);
}

Tone tone_of(Verdict verdict)
{
    switch (verdict) {
    case Verdict::regressed:
    case Verdict::newly_failing:
        return Tone::bad;
    case Verdict::improved:
    case Verdict::fixed:
        return Tone::good;
    case Verdict::insufficient:
    case Verdict::missing:
    case Verdict::not_comparable:
        return Tone::caution;
    case Verdict::informational:
        return Tone::muted;
    case Verdict::same:
    case Verdict::inconclusive:
    case Verdict::added:
        break;
    }
    return Tone::plain;
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
            tables.push_back({metric->pair, empty_table(case_title(comparison, comparison.cases[metric->pair]))});
        }
        tables.back().table.rows.push_back(row_of(*metric));
    }
    return tables;
}

}  // namespace memsweep::reporters
