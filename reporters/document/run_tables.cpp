#include "reporters/document/run_tables.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/measure/cases.hpp"
#include "core/measure/contrasts.hpp"
#include "core/measure/format.hpp"
#include "reporters/document/document.hpp"
#include "reporters/document/limit_room.hpp"
#include "reporters/wording/case_words.hpp"

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

using Shown = std::vector<const model::MetricInfo*>;

constexpr std::size_t overview_columns = 4;  // beside the time; a headline may have more

bool is_told(const Cases& cases, const model::MetricInfo& metric)
{
    return std::ranges::any_of(cases, [&](const auto* one) { return summarised(*one, metric.name) != nullptr; });
}

// Where operations are counted, the time of one compares across sizes; the whole time does not.
const model::MetricInfo& time_metric(const Cases& cases)
{
    const Shown times = model::shown_at({model::ShownAt::time});
    const auto told = std::ranges::find_if(times, [&](const auto* time) { return is_told(cases, *time); });
    return told == times.end() ? *times.back() : **told;
}

// The headline of the scenario, then what the catalogue shows of such cases, as far as there is room. Programs that are
// commands show what their kernel tells of them.
Shown overview_of(const Cases& cases, const std::vector<std::string>& headline, const model::MetricInfo& time)
{
    using model::ShownAt;
    Shown shown;
    for (const std::string& name : headline) {
        const model::MetricInfo* const metric = model::find_metric(model::metric_catalog(), name);
        if (metric != nullptr && metric->name != time.name && std::ranges::find(shown, metric) == shown.end()) {
            shown.push_back(metric);
        }
    }
    const Shown of_commands = model::shown_at({ShownAt::commands});
    const bool are_commands =
        std::ranges::any_of(of_commands, [&](const auto* metric) { return is_told(cases, *metric); });
    for (const model::MetricInfo* metric :
         model::shown_at({are_commands ? ShownAt::commands : ShownAt::steps, ShownAt::programs})) {
        if (shown.size() < overview_columns && std::ranges::find(shown, metric) == shown.end()) {
            shown.push_back(metric);
        }
    }
    return shown;
}

std::vector<Cell> overview_row(const CaseKeys& keys, const model::CaseReport& report, const model::MetricInfo& time,
                               const Shown& metrics)
{
    std::vector<Cell> row = keys.cells(report);
    row.push_back(median_cell(summarised(report, time.name)));
    row.push_back(error_cell(summarised(report, time.name)));
    for (const model::MetricInfo* metric : metrics) {
        row.push_back(median_cell(summarised(report, metric->name)));
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

std::string case_text(const model::AssertionResult& result)
{
    if (result.outcome == model::AssertionOutcome::not_evaluated) {
        return "none";
    }
    return result.case_id.empty() ? "all cases" : result.case_id;
}

using measure::PlacementContrast;

Cell ratio_cell(const std::optional<measure::Shift>& ratio, const std::string& reason)
{
    if (!ratio) {
        return {.exact = reason};
    }
    constexpr double same = 0.05;  // the default threshold for times
    std::string exact = fmt::format("{}", ratio->estimate);
    if (ratio->interval) {
        const auto& [low, high] = *ratio->interval;
        exact += fmt::format(", 95 % interval {} to {}", measure::format_factor(low), measure::format_factor(high));
    }
    const bool slower = ratio->interval && (*ratio->interval)[0] > 1 + same;
    return {.text = measure::format_factor(ratio->estimate) + "x",
            .exact = std::move(exact),
            .tone = slower ? Tone::caution : Tone::plain};
}

Cell per_fault_cell(const PlacementContrast& one)
{
    Cell cell = value_cell(one.seconds_per_fault, model::Unit::seconds);
    cell.exact = one.seconds_per_fault ? cell.exact : no_price_text(one);
    return cell;
}

struct Quantity {
    std::string_view title;
    model::Unit unit;
    std::optional<double> (*median)(const model::CaseReport&, const std::string& name);
    bool only_if_any{};  // leave its rows out of the table when it is zero everywhere
    bool has_bar{};
};

constexpr std::array<Quantity, 3> point_quantities{{
    {"working set", model::Unit::bytes,
     [](const auto& report, const auto& name) { return measure::case_median(report, name, "working_set_delta"); },
     false, true},
    {"live bytes", model::Unit::bytes,
     [](const auto& report, const auto& name) { return measure::case_median(report, name, "live_bytes"); }, false,
     true},
    {"floating", model::Unit::bytes,
     [](const auto& report, const auto& name) { return measure::case_median(report, name, "floating_bytes"); }, true,
     true},
}};

constexpr std::array<Quantity, 3> phase_quantities{{
    {"minor faults", model::Unit::one,
     [](const auto& report, const auto& name) { return phase_median(report, name, &model::Phase::minor_faults); },
     false, false},
    {"major faults", model::Unit::one,
     [](const auto& report, const auto& name) { return phase_median(report, name, &model::Phase::major_faults); }, true,
     false},
    {"time", model::Unit::seconds,
     [](const auto& report, const auto& name) { return phase_median(report, name, &model::Phase::time); }, false,
     false},
}};

bool any_nonzero(const Cases& cases, const Quantity& quantity, const std::vector<std::string>& names)
{
    return std::ranges::any_of(cases, [&](const model::CaseReport* report) {
        return std::ranges::any_of(
            names, [&](const std::string& name) { return quantity.median(*report, name).value_or(0) != 0; });
    });
}

std::vector<Cell> quantity_row(std::vector<Cell> row, const model::CaseReport& report, const Quantity& quantity,
                               const std::vector<std::string>& names)
{
    row.push_back({.text = std::string{quantity.title}});
    for (const std::string& name : names) {
        const auto median = quantity.median(report, name);
        Cell cell = value_cell(median, quantity.unit);
        cell.share = quantity.has_bar ? median : std::nullopt;
        row.push_back(std::move(cell));
    }
    return row;
}

// The shares were filled with plain values: make them parts of the largest.
void scale_shares(Table& table)
{
    double largest = 0;
    for (const auto& row : table.rows) {
        for (const Cell& cell : row) {
            largest = std::max(largest, cell.share.value_or(0));
        }
    }
    for (auto& row : table.rows) {
        for (Cell& cell : row) {
            cell.share = cell.share && largest > 0 ? std::optional{std::max(*cell.share, 0.0) / largest} : std::nullopt;
        }
    }
}

// The columns are names out of the scenario, of its points or its phases; each case has one row per quantity. Empty
// where no case has any.
template <typename Named>
std::optional<Table> named_table(Table table, const Cases& all, const std::vector<Named> model::CaseReport::*list,
                                 std::span<const Quantity> quantities)
{
    Cases cases = all;
    std::erase_if(cases, [&](const model::CaseReport* report) { return (report->*list).empty(); });
    if (cases.empty()) {
        return std::nullopt;
    }
    const std::vector<std::string> names = names_in_order(cases, list);
    const CaseKeys keys{cases};
    table.columns = keys.columns();
    table.columns.push_back(Column::key("quantity"));
    for (const std::string& name : names) {
        table.columns.push_back(Column::number(name));
    }
    std::vector<Quantity> shown;
    std::ranges::copy_if(quantities, std::back_inserter(shown), [&](const Quantity& quantity) {
        return !quantity.only_if_any || any_nonzero(cases, quantity, names);
    });
    for (const model::CaseReport* report : cases) {
        for (const Quantity& quantity : shown) {
            table.rows.push_back(quantity_row(keys.cells(*report), *report, quantity, names));
        }
    }
    scale_shares(table);
    return table;
}

}  // namespace

Table overview_table(const Cases& cases, const std::vector<std::string>& headline)
{
    if (are_figures(cases)) {
        return figures_table(cases);
    }
    const CaseKeys keys{cases};
    const model::MetricInfo& time = time_metric(cases);
    const Shown metrics = overview_of(cases, headline, time);
    Table table{.title = "Cases", .note = joined(repetitions_note(cases), keys.constants()), .columns = keys.columns()};
    table.add_numbers({model::heading_of(time).c_str(), "err%"});
    for (const model::MetricInfo* metric : metrics) {
        table.columns.push_back(Column::number(model::heading_of(*metric)));
    }
    table.columns.push_back(Column::verdict("status"));
    for (const model::CaseReport* report : cases) {
        table.rows.push_back(overview_row(keys, *report, time, metrics));
    }
    return table;
}

Table metrics_table(const Cases& cases)
{
    const CaseKeys keys{cases};
    Table table{
        .title = "Every metric", .note = "interval: 95 % of the median, from 6 repetitions", .columns = keys.columns()};
    table.columns.push_back(Column::word_key("metric"));
    table.add_numbers({"median", "err%", "min", "max", "interval from", "interval to", "n"});
    for (const model::CaseReport* report : cases) {
        for (const model::Metric& metric : report->metrics) {
            table.rows.push_back(metric_row(keys.cells(*report), metric));
        }
    }
    return table;
}

std::string claims_heading(const model::RunReport& report)
{
    const auto limits = std::ranges::count_if(report.assertions, &model::AssertionResult::is_limit);
    return limits == 0                                        ? "Assertions"
           : std::cmp_equal(limits, report.assertions.size()) ? "Limits"
                                                              : "Assertions and limits";
}

std::optional<Table> assertions_table(const model::RunReport& report)
{
    if (report.assertions.empty()) {
        return std::nullopt;
    }
    const bool all_limits = std::ranges::all_of(report.assertions, &model::AssertionResult::is_limit);
    Table table{.title = all_limits ? "Every limit" : "Every assertion",
                .note = "those that do not hold first",
                .columns = {Column::text("outcome"), Column::text(all_limits ? "limit" : "assertion"),
                            Column::number("actual"), Column::text("case")}};
    if (all_limits) {
        table.columns.push_back(Column::number("room"));
    }
    std::vector<const model::AssertionResult*> results;
    std::ranges::transform(report.assertions, std::back_inserter(results), [](const auto& result) { return &result; });
    std::ranges::stable_partition(
        results, [](const auto* result) { return result->outcome != model::AssertionOutcome::passed; });
    for (const model::AssertionResult* result : results) {
        Cell actual = value_cell(result->actual, result->unit);
        actual.text = result->actual ? actual.text : result->reason;
        table.rows.push_back(
            {verdict_cell(*result), {.text = result->expression}, std::move(actual), {.text = case_text(*result)}});
        if (const auto room = room_left(*result); all_limits) {
            table.rows.back().push_back({.text = room ? measure::format_percent(*room) : std::string{"-"}});
        }
    }
    return table;
}

std::optional<Table> placement_table(const Cases& cases)
{
    const std::vector<PlacementContrast> contrasts = measure::placement_contrasts(cases);
    if (contrasts.empty()) {
        return std::nullopt;
    }
    Cases placed;
    std::ranges::transform(contrasts, std::back_inserter(placed), &PlacementContrast::placed);
    const CaseKeys keys{placed};
    Table table{.title = "Alone and in the sweep",
                .note =
                    "per call or repetition; time per fault: difference of the times over difference of the faults, "
                    "where both differ the same way",
                .columns = keys.columns()};
    table.add_numbers({"alone", "in sweep", "ratio", "faults alone", "faults in sweep", "per fault"});
    for (const PlacementContrast& one : contrasts) {
        std::vector<Cell> row = keys.cells(*one.placed);
        row.push_back(value_cell(one.time_alone.seconds, model::Unit::seconds));
        row.push_back(value_cell(one.time_placed.seconds, model::Unit::seconds));
        row.push_back(ratio_cell(one.ratio, no_price_text(one)));
        row.push_back(value_cell(one.time_alone.faults, model::Unit::one));
        row.push_back(value_cell(one.time_placed.faults, model::Unit::one));
        row.push_back(per_fault_cell(one));
        table.rows.push_back(std::move(row));
    }
    return table;
}

std::optional<Table> points_table(const Cases& cases)
{
    return named_table(
        {.title = "Memory at the named points", .note = "medians; working set: above the repetition's baseline"}, cases,
        &model::CaseReport::points, point_quantities);
}

std::optional<Table> phases_table(const Cases& cases)
{
    return named_table({.title = "Page faults and time by phase", .note = "medians"}, cases, &model::CaseReport::phases,
                       phase_quantities);
}

}  // namespace memsweep::reporters
