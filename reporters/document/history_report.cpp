#include "reporters/document/history_report.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/measure/format.hpp"
#include "reporters/document/comparison_tables.hpp"
#include "reporters/document/value_text.hpp"

namespace memsweep::reporters {
namespace {

using measure::Change;
using measure::History;
using measure::Trend;
using measure::TrendPoint;
using measure::Verdict;

struct Row {
    const Trend* trend{};
    const Change* change{};
};

std::vector<Row> rows_of(const History& history)
{
    std::vector<Row> rows;
    for (const Trend& trend : history.trends) {
        for (const Change& change : trend.changes) {
            rows.push_back({&trend, &change});
        }
    }
    std::ranges::stable_sort(rows, std::ranges::greater{}, [](const Row& row) {
        return std::pair{row.change->run, row.change->verdict == Verdict::regressed};
    });
    return rows;
}

std::string effect_text(const Trend& trend, const Change& change, double value)
{
    return change.shift.is_ratio ? measure::format_factor(value) + "x"
                                 : (value > 0 ? "+" : "") + value_text(value, trend.unit);
}

std::string interval_text(const Trend& trend, const Change& change)
{
    return change.shift.interval ? fmt::format("{}..{}", effect_text(trend, change, (*change.shift.interval)[0]),
                                               effect_text(trend, change, (*change.shift.interval)[1]))
                                 : std::string{};
}

// "2026-01-31T12:00:00Z" of a time with a fraction.
std::string whole_seconds(const std::string& time)
{
    const std::size_t point = time.find('.');
    return point == std::string::npos ? time : time.substr(0, point) + "Z";
}

std::vector<Cell> change_row(const History& history, const Row& row)
{
    const Change& change = *row.change;
    Cell verdict{.text = std::string{model::name_of(change.verdict)}};
    verdict.tone = tone_of_change(change.verdict);
    return {{.text = case_name(history, *row.trend)},
            {.text = row.trend->metric},
            std::move(verdict),
            {.text = fmt::format("{}", change.run + 1)},
            {.text = whole_seconds(history.runs[change.run].started), .exact = history.runs[change.run].started},
            value_cell(change.before, row.trend->unit),
            value_cell(change.after, row.trend->unit),
            {.text = effect_text(*row.trend, change, change.shift.estimate)},
            {.text = interval_text(*row.trend, change)}};
}

std::vector<TrendPoint> present_points(const Trend& trend)
{
    std::vector<TrendPoint> points;
    for (const auto& point : trend.points) {
        if (point) {
            points.push_back(*point);
        }
    }
    return points;
}

bool is_shown(const Trend& trend)
{
    constexpr std::array<std::string_view, 4> always{"wall_time", "time_per_op", "bandwidth", "working_set_peak"};
    return !trend.changes.empty() || std::ranges::find(always, trend.metric) != always.end();
}

std::vector<Cell> trend_row(const History& history, const Trend& trend)
{
    const std::vector<TrendPoint> points = present_points(trend);
    const auto [least, most] = std::ranges::minmax_element(points, {}, &TrendPoint::median);
    Cell changes{.text = trend.changes.empty() ? (trend.why.empty() ? "none" : "cannot be told")
                                               : fmt::format("{}", trend.changes.size())};
    changes.exact = trend.why;
    changes.tone = trend.changes.empty() ? Tone::plain : tone_of_change(trend.changes.back().verdict);
    return {{.text = case_name(history, trend)},          {.text = trend.metric},
            {.text = fmt::format("{}", points.size())},   value_cell(points.front().median, trend.unit),
            value_cell(points.back().median, trend.unit), value_cell(least->median, trend.unit),
            value_cell(most->median, trend.unit),         std::move(changes)};
}

}  // namespace

Headline headline(const History& history)
{
    const std::size_t worse = measure::count_changes(history, Verdict::regressed);
    const std::size_t better = measure::count_changes(history, Verdict::improved);
    const std::string runs = fmt::format("{} of {}", plural(history.runs.size(), "run"), history.scenario);
    if (worse + better == 0) {
        const bool blind = history.judged == 0;
        return {fmt::format("{}: {}", runs,
                            blind ? "too few to tell what varies; no exact counter changed."
                                  : fmt::format("no change of level in {}.", plural(history.trends.size(), "metric"))),
                blind ? Tone::caution : Tone::good};
    }
    return {fmt::format("{}: {} for the worse, {} for the better.", runs, plural(worse, "change"), better),
            worse > 0 ? Tone::bad : Tone::good};
}

std::string span_text(const History& history)
{
    return fmt::format("{} from {} to {}, on {}", plural(history.runs.size(), "run"), history.runs.front().started,
                       history.runs.back().started, history.machine);
}

Table changes_table(const History& history)
{
    Table table{.title = "Changes", .note = "the latest first"};
    table.columns = {{.title = "case", .is_key = true},
                     {.title = "metric", .is_key = true, .is_word = true},
                     {.title = "verdict"},
                     {.title = "run", .is_number = true},
                     {.title = "started", .is_number = true},
                     {.title = "before", .is_number = true},
                     {.title = "after", .is_number = true},
                     {.title = "ratio", .is_number = true},
                     {.title = "95 % interval", .is_number = true}};
    for (const Row& row : rows_of(history)) {
        table.rows.push_back(change_row(history, row));
    }
    return table;
}

Table trends_table(const History& history, bool all)
{
    Table table{.title = all ? "Every metric" : "Trends",
                .note = "medians of each run; a change is of the level they lie on"};
    table.columns = {{.title = "case", .is_key = true},      {.title = "metric", .is_key = true, .is_word = true},
                     {.title = "runs", .is_number = true},   {.title = "first", .is_number = true},
                     {.title = "latest", .is_number = true}, {.title = "least", .is_number = true},
                     {.title = "most", .is_number = true},   {.title = "changes"}};
    for (const Trend& trend : history.trends) {
        if (all || is_shown(trend)) {
            table.rows.push_back(trend_row(history, trend));
        }
    }
    return table;
}

std::string case_name(const History& history, const Trend& trend)
{
    const std::string prefix = history.scenario + "/";
    return trend.case_id.starts_with(prefix) ? trend.case_id.substr(prefix.size()) : trend.case_id;
}

Tone tone_of_change(Verdict verdict)
{
    return verdict == Verdict::informational ? Tone::caution : tone_of(verdict);
}

}  // namespace memsweep::reporters
