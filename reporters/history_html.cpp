#include "reporters/history_html.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "reporters/history_chart.hpp"
#include "reporters/html_charts.hpp"
#include "reporters/html_page.hpp"
#include "reporters/html_table.hpp"
#include "reporters/html_text.hpp"
#include "reporters/utf8.hpp"

namespace memsweep::reporters {
namespace {

using measure::History;
using measure::Trend;
using measure::Verdict;

constexpr std::size_t most_changed_charts = 12;

struct Numbers {
    std::size_t chart{};
    std::size_t table{};
};

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
    changed.resize(std::min(changed.size(), most_changed_charts));
    return changed;
}

const Trend* find_trend(const History& history, const Trend& of, std::string_view metric)
{
    const auto found = std::ranges::find_if(history.trends, [&](const Trend& trend) {
        return trend.scenario == of.scenario && trend.case_id == of.case_id && trend.metric == metric;
    });
    return found == history.trends.end() ? nullptr : &*found;
}

// Of a case: its time and its working set, unless they are shown among the changes.
ChartSection case_section(const History& history, const Trend& first, const std::vector<const Trend*>& shown)
{
    ChartSection section{inert_text(case_name(history, first)), {}};
    const Trend* time = nullptr;
    for (const std::string_view metric : {"time_per_op", "bandwidth", "wall_time"}) {
        time = time == nullptr ? find_trend(history, first, metric) : time;
    }
    for (const Trend* trend : {time, find_trend(history, first, "working_set_peak")}) {
        if (trend != nullptr && std::ranges::find(shown, trend) == shown.end()) {
            section.charts.push_back(history_chart(history, *trend));
        }
    }
    return section;
}

std::vector<ChartSection> chart_sections(const History& history)
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

std::string history_html(const History& history, bool one_of_several, Numbers& numbers)
{
    constexpr std::size_t most_open_rows = 24;
    std::string out = one_of_several ? fmt::format("<h2>{}</h2>\n", escaped(history.scenario)) : std::string{};
    out += verdict_html(headline(history), history.findings);
    out += fmt::format("<p class=\"muted\">{}</p>\n", escaped(span_text(history)));
    if (const Table changes = changes_table(history); !changes.rows.empty()) {
        out += table_html(changes, fmt::format("table-{}", ++numbers.table),
                          {.is_tall = changes.rows.size() > most_open_rows, .is_sortable = true});
    }
    out += charts_html(chart_sections(history), numbers.chart);
    const Table trends = trends_table(history, true);
    return out + fmt::format("<details class=\"data\"><summary>{}</summary>\n{}</details>\n", escaped(trends.title),
                             table_html(trends, fmt::format("table-{}", ++numbers.table), {.is_sortable = true}));
}

std::string left_out_html(const std::vector<std::string>& left_out)
{
    std::string items;
    for (const std::string& reason : left_out) {
        items += fmt::format("<li>{}</li>\n", escaped(reason));
    }
    return items.empty() ? items : "<h2>Results left out</h2>\n<ul class=\"plain\">\n" + items + "</ul>\n";
}

std::string note_on_several(const std::vector<History>& histories)
{
    return histories.size() > 1 ? fmt::format("<p>{} scenarios or machines: runs of one are no points on the line of "
                                              "another, so each has a part of its own.</p>\n",
                                              histories.size())
                                : std::string{};
}

}  // namespace

std::string to_html(const HistoryReport& report)
{
    const std::vector<History>& histories = report.histories.histories;
    Numbers numbers;
    std::string body = note_on_several(histories);
    for (const History& history : histories) {
        body += history_html(history, histories.size() > 1, numbers);
    }
    body += left_out_html(report.histories.left_out);
    return page_html({.kicker = "memsweep history",
                      .title = histories.size() == 1 ? histories.front().scenario : "History",
                      .description = histories.size() == 1 ? histories.front().description : "",
                      .body = std::move(body),
                      .with_charts = numbers.chart > 0});
}

}  // namespace memsweep::reporters
