// The tables of a probe.
#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/measure/findings.hpp"
#include "core/model/metric_id.hpp"
#include "reporters/document/run_tables.hpp"
#include "reporters/wording/case_words.hpp"
#include "reporters/wording/probe_words.hpp"

namespace memsweep::reporters {
namespace {

using Figures = std::vector<const model::MetricInfo*>;
constexpr std::string_view least_note = "latency: least of the samples";

Figures figures_of(const Cases& cases)
{
    Figures found = model::shown_at({model::ShownAt::figures});
    std::erase_if(found, [&](const model::MetricInfo* figure) {
        return std::ranges::none_of(cases, [&](const auto* one) { return summarised(*one, figure->name) != nullptr; });
    });
    return found;
}

Cell figure_cell(const model::CaseReport& report, const model::MetricInfo& figure)
{
    const model::Metric* const metric = summarised(report, figure.name);
    if (metric == nullptr) {
        return {};
    }
    Cell cell = value_cell(shown_value(*metric), metric->unit);
    if (figure.shown.is_share) {
        cell.text = percent_text(metric->summary->median);
    }
    return cell;
}

Cell interval_cell(const model::CaseReport& report, const model::MetricInfo& figure)
{
    const model::Metric* const metric = summarised(report, figure.name);
    if (metric == nullptr) {
        return {};
    }
    return {.text = interval_text(metric->summary->ci95, metric->unit),
            .exact = exact_interval_text(metric->summary->ci95, metric->unit)};
}

// A fact that all measured cases share is said once.
std::string common_facts(const Cases& cases)
{
    std::string text;
    const auto measured = std::ranges::find_if(cases, [](const auto* one) { return one->repetitions != 0; });
    if (measured == cases.end()) {
        return text;
    }
    for (const model::Param& fact : (*measured)->facts) {
        const bool shared = std::ranges::all_of(cases, [&](const auto* one) {
            return one->repetitions == 0 || std::ranges::find(one->facts, fact) != one->facts.end();
        });
        text = shared ? joined(text, fmt::format("{} {}", fact.name, model::to_text(fact.value))) : text;
    }
    return text;
}

// The keys of its row.
std::vector<Cell> key_cells(const CaseKeys& keys, const FoldedCase& shown)
{
    std::vector<Cell> cells = keys.cells(*shown.report);
    if (shown.alike > 1) {
        std::ranges::fill(cells, Cell{});
        cells.front().text = fmt::format("{} cases", shown.alike);
    }
    return cells;
}

// What is said beside a row; empty of most.
std::string doubt_about(const model::CaseReport& report, const std::vector<measure::Contradiction>& doubts)
{
    const auto found = std::ranges::find(doubts, &report,
                                         [](const measure::Contradiction& one) { return &measure::doubted_case(one); });
    return found == doubts.end() ? std::string{} : doubt_text(*found);
}

// One row for each fact of a case.
Table facts_table(const Cases& cases)
{
    const CaseKeys keys{cases};
    Table table{.title = "Facts", .note = keys.constants(), .columns = keys.columns()};
    for (const char* title : {"fact", "value", "status"}) {
        table.columns.push_back(Column::text(title));
    }
    for (const FoldedCase& shown : folded_cases(cases)) {
        const std::vector<model::Param> folded{{"skipped", shown.report->reason}};
        for (const model::Param& fact : shown.alike > 1 ? folded : shown.report->facts) {
            std::vector<Cell> row = key_cells(keys, shown);
            row.push_back({.text = fact.name});
            row.push_back({.text = model::to_text(fact.value)});
            row.push_back(status_cell(*shown.report));
            table.rows.push_back(std::move(row));
        }
    }
    return table;
}

}  // namespace

std::vector<FoldedCase> folded_cases(const Cases& cases)
{
    constexpr std::size_t few = 3;
    std::map<std::string_view, std::size_t> skipped;
    for (const model::CaseReport* report : cases) {
        skipped[report->reason] += report->status == model::Status::skipped ? 1 : 0;
    }
    std::set<std::string_view> told;
    std::vector<FoldedCase> shown;
    for (const model::CaseReport* report : cases) {
        const bool is_folded = report->status == model::Status::skipped && skipped[report->reason] > few;
        if (!is_folded) {
            shown.push_back({report});
        } else if (told.insert(report->reason).second) {
            shown.push_back({report, skipped[report->reason]});
        }
    }
    return shown;
}

bool is_shown_by_least(std::string_view metric)
{
    return model::shown_of(metric).by_least;
}

double shown_value(const model::Metric& metric)
{
    return is_shown_by_least(metric.name) ? metric.summary->min : metric.summary->median;
}

const model::Metric* summarised(const model::CaseReport& report, std::string_view name)
{
    const model::Metric* metric = model::find_metric(report, name);
    return metric != nullptr && metric->summary ? metric : nullptr;
}

Cell status_cell(const model::CaseReport& report)
{
    const bool bad = report.status != model::Status::ok && report.status != model::Status::skipped;
    const Tone tone = bad ? Tone::bad : report.status == model::Status::skipped ? Tone::muted : Tone::plain;
    return {.text = std::string{model::name_of(report.status)}, .exact = report.reason, .tone = tone};
}

std::string joined(const std::string& left, const std::string& right)
{
    return left.empty() || right.empty() ? left + right : left + "; " + right;
}

bool are_figures(const Cases& cases)
{
    const auto tells_working_set = [](const auto* one) {
        return model::find_metric(*one, model::metrics::working_set_peak) != nullptr;
    };
    return std::ranges::none_of(cases, tells_working_set) &&
           std::ranges::any_of(cases, [](const auto* one) { return !one->facts.empty(); });
}

Table figures_table(const Cases& cases)
{
    const CaseKeys keys{cases};
    const Figures shown = figures_of(cases);
    if (shown.empty()) {
        return facts_table(cases);
    }
    const std::vector<measure::Contradiction> doubts = measure::contradictions(cases);
    const bool has_least =
        std::ranges::any_of(shown, [](const model::MetricInfo* figure) { return figure->shown.by_least; });
    Table table{.title = "Figures",
                .note = joined(joined(keys.constants(), common_facts(cases)), std::string{has_least ? least_note : ""}),
                .columns = keys.columns()};
    for (const model::MetricInfo* figure : shown) {
        table.columns.push_back(Column::number(model::heading_of(*figure)));
        if (figure->shown.is_sampled) {
            table.columns.push_back(Column::number("95 % of the median"));
        }
    }
    table.columns.push_back(Column::verdict("status"));
    if (!doubts.empty()) {
        table.columns.push_back(Column::text("impossible"));
    }
    for (const FoldedCase& one : folded_cases(cases)) {
        std::vector<Cell> row = key_cells(keys, one);
        for (const model::MetricInfo* figure : shown) {
            row.push_back(figure_cell(*one.report, *figure));
            if (figure->shown.is_sampled) {
                row.push_back(interval_cell(*one.report, *figure));
            }
        }
        row.push_back(status_cell(*one.report));
        if (!doubts.empty()) {
            row.push_back({.text = doubt_about(*one.report, doubts), .tone = Tone::caution});
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

Table matrix_table(const measure::PlaceMatrix& matrix)
{
    const bool is_latency = matrix.unit == model::Unit::seconds;
    Table table{.title = "Matrix " + matrix.name,
                .note = fmt::format("rows: {}; columns: {}{}", matrix.row_role, matrix.col_role,
                                    is_latency ? "; least of the samples" : ""),
                .columns = {Column::key(matrix.row_role)}};
    for (const std::string& col : matrix.cols) {
        table.columns.push_back(Column::number(col));
    }
    for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
        std::vector<Cell> cells{{.text = matrix.rows[row]}};
        for (const measure::PlaceMatrix::Cell& cell : matrix.cells[row]) {
            cells.push_back(cell.value ? value_cell(is_latency ? cell.least : cell.value, matrix.unit)
                                       : Cell{.text = "n/a", .exact = no_value_text(cell), .tone = Tone::muted});
        }
        table.rows.push_back(std::move(cells));
    }
    return table;
}

}  // namespace memsweep::reporters
