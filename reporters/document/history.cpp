#include "reporters/document/history.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/measure/format.hpp"
#include "core/model/metric_id.hpp"
#include "reporters/document/case_keys.hpp"
#include "reporters/document/history_chart.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/wording/history_words.hpp"
#include "reporters/wording/shift_words.hpp"

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

std::string change_effect_text(const Trend& trend, const Change& change, double value)
{
    return change.shift.is_ratio ? measure::format_factor(value) + "x"
                                 : (value > 0 ? "+" : "") + value_text(value, trend.unit);
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
    const auto effect = [&](double value) { return change_effect_text(*row.trend, change, value); };
    return {{.text = short_id(row.trend->case_id, history.scenario)},
            {.text = row.trend->metric},
            change_cell(change.verdict),
            count_cell(change.run + 1),
            {.text = whole_seconds(history.runs[change.run].started), .exact = history.runs[change.run].started},
            value_cell(change.before, row.trend->unit),
            value_cell(change.after, row.trend->unit),
            {.text = change.shift.interval ? effect(change.shift.estimate)
                                           : brief_shift_text(row.trend->unit, change.shift, change.before)},
            {.text = interval_text(change.shift.interval, "..", effect)}};
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

bool is_shown_in_brief(const Trend& trend)
{
    return !trend.changes.empty() || model::shown_of(trend.metric).in_brief;
}

std::vector<Cell> trend_row(const History& history, const Trend& trend)
{
    const std::vector<TrendPoint> points = present_points(trend);
    const auto [least, most] = std::ranges::minmax_element(points, {}, &TrendPoint::median);
    Cell changes{.text = trend.changes.empty() ? (trend.too_few_runs ? "cannot be told" : "none")
                                               : fmt::format("{}", trend.changes.size())};
    changes.exact = too_few_text(trend);
    changes.tone = trend.changes.empty() ? Tone::plain : change_cell(trend.changes.back().verdict).tone;
    return {{.text = short_id(trend.case_id, history.scenario)},
            {.text = trend.metric},
            count_cell(points.size()),
            value_cell(points.front().median, trend.unit),
            value_cell(points.back().median, trend.unit),
            value_cell(least->median, trend.unit),
            value_cell(most->median, trend.unit),
            std::move(changes)};
}

Headline history_headline(const History& history)
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

// "30 runs from ... to ..., on MACHINE"
std::string history_span(const History& history)
{
    return fmt::format("{} from {} to {}, on {}", plural(history.runs.size(), "run"), history.runs.front().started,
                       history.runs.back().started, history.machine);
}

// A row per change, the latest first, regressions before improvements of the same run.
Table changes_table(const History& history)
{
    Table table{.title = "Changes", .note = "the latest first"};
    table.columns = {Column::key("case"), Column::word_key("metric"), Column::text("verdict")};
    table.add_numbers({"run", "started", "before", "after", "ratio", "95 % interval"});
    for (const Row& row : rows_of(history)) {
        table.rows.push_back(change_row(history, row));
    }
    return table;
}

// A row per trend: its first and its latest run, and all that lies between. `all`: else only times, the working set and
// what changed.
Table trends_table(const History& history, bool all)
{
    Table table{.title = all ? "Every metric" : "Trends",
                .note = "medians of each run; a change is of the level they lie on"};
    table.columns = {Column::key("case"), Column::word_key("metric")};
    table.add_numbers({"runs", "first", "latest", "least", "most"});
    table.columns.push_back(Column::text("changes"));
    for (const Trend& trend : history.trends) {
        if (all || is_shown_in_brief(trend)) {
            table.rows.push_back(trend_row(history, trend));
        }
    }
    return table;
}

constexpr std::size_t max_changed_charts = 12;

// The trends that changed, regressions first, the latest of them first.
std::vector<const Trend*> changed_trends(const History& history)
{
    std::vector<const Trend*> changed;
    for (const Trend& trend : history.trends) {
        if (!trend.changes.empty()) {
            changed.push_back(&trend);
        }
    }
    std::ranges::stable_sort(changed, std::ranges::greater{}, [](const Trend* trend) {
        const bool worse =
            std::ranges::find(trend->changes, Verdict::regressed, &measure::Change::verdict) != trend->changes.end();
        return std::pair{worse, trend->changes.back().run};
    });
    changed.resize(std::min(changed.size(), max_changed_charts));
    return changed;
}

const Trend* find_trend(const History& history, const Trend& of, std::string_view metric)
{
    const auto found = std::ranges::find_if(history.trends, [&](const Trend& trend) {
        return trend.scenario == of.scenario && trend.case_id == of.case_id && trend.metric == metric;
    });
    return found == history.trends.end() ? nullptr : &*found;
}

// The charts of a case: its time and its working set, unless they are shown among the changes.
ChartSection case_section(const History& history, const Trend& first, const std::vector<const Trend*>& shown)
{
    ChartSection section{inert_text(short_id(first.case_id, history.scenario)), {}};
    const Trend* time = nullptr;
    for (const std::string_view metric :
         {model::metrics::time_per_op, model::metrics::bandwidth, model::metrics::wall_time}) {
        time = time == nullptr ? find_trend(history, first, metric) : time;
    }
    for (const Trend* trend : {time, find_trend(history, first, model::metrics::working_set_peak)}) {
        if (trend != nullptr && std::ranges::find(shown, trend) == shown.end()) {
            section.charts.push_back(history_chart(history, *trend));
        }
    }
    return section;
}

std::vector<ChartSection> history_sections(const History& history)
{
    const std::vector<const Trend*> changed = changed_trends(history);
    std::vector<ChartSection> sections(1);
    for (const Trend* trend : changed) {
        sections.front().charts.push_back(history_chart(history, *trend));
    }
    const Trend* before = nullptr;
    for (const Trend& trend : history.trends) {
        if (before == nullptr || trend.case_id != before->case_id || trend.scenario != before->scenario) {
            sections.push_back(case_section(history, trend, changed));
            before = &trend;
        }
    }
    std::erase_if(sections, [](const ChartSection& section) { return section.charts.empty(); });
    return sections;
}

void add_history(Document& document, const History& history, bool is_one_of_several)
{
    if (is_one_of_several) {
        document.add(Heading{history.scenario}, Weight::appendix);
    }
    document.add(Opening{history_headline(history), statements(history.findings), history_span(history)});
    document.add_table({.table = changes_table(history), .is_sortable = true});
    document.add(Charts{.title = {}, .sections = [&] { return history_sections(history); }});
    document.add(
        Section{.title = {}, .summary = "Trends", .blocks = {{TableBlock{.table = trends_table(history, false)}}}},
        Weight::brief);
    document.add_later(Weight::detail,
                       [&] { return TableBlock{.table = trends_table(history, true), .is_sortable = true}; });
}

}  // namespace

Document document(const HistoryReport& report)
{
    const std::vector<History>& histories = report.histories.histories;
    const bool is_one = histories.size() == 1;
    Document document{.kicker = "memsweep history",
                      .title = is_one ? histories.front().scenario : "History",
                      .description = is_one ? histories.front().description : ""};
    if (histories.size() > 1) {
        document.add(
            Paragraph{fmt::format("{} scenarios or machines: runs of one are no points on the line of another, so "
                                  "each has a part of its own.",
                                  histories.size())},
            Weight::appendix);
    }
    for (const History& history : histories) {
        add_history(document, history, !is_one);
    }
    for (const measure::LeftOut& one : report.histories.left_out) {
        document.add(Paragraph{"left out: " + left_out_text(one), Tone::caution});
    }
    return document;
}

}  // namespace memsweep::reporters
