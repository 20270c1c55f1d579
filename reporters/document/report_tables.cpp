#include "reporters/document/report_tables.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "reporters/document/figure_tables.hpp"
#include "reporters/document/value_text.hpp"

namespace memsweep::reporters {
namespace {

Cell median_cell(const model::Metric* metric)
{
    return metric == nullptr ? Cell{} : value_cell(metric->summary->median, metric->unit);
}

Cell error_cell(const model::Metric* metric)
{
    if (metric == nullptr || !metric->summary->mdape || metric->summary->n < 2) {
        return {};
    }
    constexpr double unsteady = 0.05;  // the share above which a run warns about noise
    const double error = *metric->summary->mdape;
    return {.text = percent_text(error), .tone = error > unsteady ? Tone::caution : Tone::plain};
}

struct OverviewMetric {
    std::string_view metric;
    std::string_view title;
};
constexpr std::array<OverviewMetric, 4> overview_metrics{{
    {"working_set_peak", "working set peak"},
    {"residual_working_set", "residual working set"},
    {"minor_faults", "minor faults"},
    {"live_bytes_peak", "live bytes peak"},
}};

// Where operations are counted, the time of one compares across sizes; the whole time does not.
OverviewMetric time_metric(const Cases& cases)
{
    const bool per_op =
        std::ranges::any_of(cases, [](const auto* one) { return summarised(*one, "time_per_op") != nullptr; });
    return per_op ? OverviewMetric{"time_per_op", "time per op"} : OverviewMetric{"wall_time", "wall time"};
}

std::vector<Cell> overview_row(const CaseKeys& keys, const model::CaseReport& report, std::string_view time)
{
    std::vector<Cell> row = keys.cells(report);
    row.push_back(median_cell(summarised(report, time)));
    row.push_back(error_cell(summarised(report, time)));
    for (const OverviewMetric& entry : overview_metrics) {
        row.push_back(median_cell(summarised(report, entry.metric)));
    }
    row.push_back(status_cell(report));
    return row;
}

// "medians of 10 repetitions", or "medians of 5 to 10 repetitions" when the measured cases differ.
std::string repetitions_note(const Cases& cases)
{
    Cases measured = cases;
    std::erase_if(measured, [](const model::CaseReport* report) { return report->repetitions == 0; });
    if (measured.empty()) {
        return "nothing was measured";
    }
    const auto [least, most] = std::ranges::minmax_element(measured, {}, &model::CaseReport::repetitions);
    const auto low = (*least)->repetitions;
    const auto high = (*most)->repetitions;
    if (low != high) {
        return fmt::format("medians of {} to {} repetitions", low, high);
    }
    return high == 1 ? "one repetition" : fmt::format("medians of {} repetitions", high);
}

std::vector<Cell> metric_row(std::vector<Cell> row, const model::Metric& metric)
{
    row.push_back({.text = metric.name});
    const model::Metric* present = metric.summary ? &metric : nullptr;
    const auto ci95 = present != nullptr ? metric.summary->ci95 : std::nullopt;
    row.push_back(median_cell(present));
    row.push_back(error_cell(present));
    row.push_back(present != nullptr ? value_cell(metric.summary->min, metric.unit) : Cell{});
    row.push_back(present != nullptr ? value_cell(metric.summary->max, metric.unit) : Cell{});
    row.push_back(ci95 ? value_cell((*ci95)[0], metric.unit) : Cell{});
    row.push_back(ci95 ? value_cell((*ci95)[1], metric.unit) : Cell{});
    row.push_back({.text = fmt::format("{}", present != nullptr ? metric.summary->n : 0), .exact = metric.reason});
    return row;
}

void append_number_columns(Table& table, std::initializer_list<const char*> titles)
{
    for (const char* title : titles) {
        table.columns.push_back({.title = title, .is_number = true});
    }
}

std::string case_text(const model::AssertionResult& result)
{
    if (result.outcome == model::AssertionOutcome::not_evaluated) {
        return "none";
    }
    return result.case_id.empty() ? "all cases" : result.case_id;
}

}  // namespace

std::vector<ScenarioCases> cases_by_scenario(const model::RunReport& report)
{
    std::vector<ScenarioCases> all;
    for (const model::CaseReport& one : report.cases) {
        auto group = std::ranges::find(all, one.scenario, &ScenarioCases::scenario);
        if (group == all.end()) {
            all.push_back({one.scenario, {}});
            group = std::prev(all.end());
        }
        group->cases.push_back(&one);
    }
    return all;
}

Table overview_table(const Cases& cases)
{
    if (are_figures(cases)) {
        return figures_table(cases);
    }
    const CaseKeys keys{cases};
    const OverviewMetric time = time_metric(cases);
    Table table{.title = "Cases", .note = joined(repetitions_note(cases), keys.constants()), .columns = keys.columns()};
    append_number_columns(table, {std::string{time.title}.c_str(), "err%"});
    for (const OverviewMetric& entry : overview_metrics) {
        table.columns.push_back({.title = std::string{entry.title}, .is_number = true});
    }
    table.columns.push_back({.title = "status"});
    for (const model::CaseReport* report : cases) {
        table.rows.push_back(overview_row(keys, *report, time.metric));
    }
    return table;
}

Table metrics_table(const Cases& cases)
{
    const CaseKeys keys{cases};
    Table table{
        .title = "Every metric", .note = "interval: 95 % of the median, from 6 repetitions", .columns = keys.columns()};
    table.columns.push_back({.title = "metric", .is_key = true});
    append_number_columns(table, {"median", "err%", "min", "max", "interval from", "interval to", "n"});
    for (const model::CaseReport* report : cases) {
        for (const model::Metric& metric : report->metrics) {
            table.rows.push_back(metric_row(keys.cells(*report), metric));
        }
    }
    return table;
}

Cell verdict_cell(const model::AssertionResult& assertion)
{
    if (assertion.outcome == model::AssertionOutcome::passed) {
        return {.text = "held", .tone = Tone::good};
    }
    if (assertion.outcome == model::AssertionOutcome::not_evaluated) {
        return {.text = "not evaluated", .tone = Tone::caution};
    }
    const bool fails = assertion.severity == model::Severity::fail;
    return {.text = fails ? "FAILED" : "warned", .tone = fails ? Tone::bad : Tone::caution};
}

std::optional<Table> assertions_table(const model::RunReport& report)
{
    if (report.assertions.empty()) {
        return std::nullopt;
    }
    Table table{
        .title = "Every assertion",
        .note = "those that do not hold first",
        .columns = {
            {.title = "outcome"}, {.title = "assertion"}, {.title = "actual", .is_number = true}, {.title = "case"}}};
    std::vector<const model::AssertionResult*> results;
    std::ranges::transform(report.assertions, std::back_inserter(results), [](const auto& result) { return &result; });
    std::ranges::stable_partition(
        results, [](const auto* result) { return result->outcome != model::AssertionOutcome::passed; });
    for (const model::AssertionResult* result : results) {
        Cell actual = value_cell(result->actual, result->unit);
        actual.text = result->actual ? actual.text : result->reason;
        table.rows.push_back(
            {verdict_cell(*result), {.text = result->expression}, std::move(actual), {.text = case_text(*result)}});
    }
    return table;
}

}  // namespace memsweep::reporters
