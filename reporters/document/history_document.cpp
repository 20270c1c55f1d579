#include "reporters/document/history_document.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "reporters/document/history_chart.hpp"
#include "reporters/text/utf8.hpp"

namespace memsweep::reporters {
namespace {

using measure::History;
using measure::Trend;
using measure::Verdict;

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

void add_history(Document& document, const History& history, bool is_one_of_several, const Audience& audience)
{
    constexpr std::size_t max_open_rows = 24;
    const bool is_page = audience.medium == Medium::page;
    if (is_page && is_one_of_several) {
        document.add(Heading{history.scenario});
    }
    document.add(Opening{headline(history), history.findings, span_text(history)});
    if (Table changes = changes_table(history); !changes.rows.empty()) {
        const bool is_tall = changes.rows.size() > max_open_rows;
        document.add(TableBlock{.table = std::move(changes), .is_tall = is_tall, .is_sortable = true});
    }
    if (is_page) {
        document.add(Charts{history_sections(history)});
    }
    Table trends = trends_table(history, is_page || audience.verbose);
    std::string title = trends.title;
    document.add(folded(std::move(title), {.table = std::move(trends), .is_sortable = true}));
}

void add_left_out(Document& document, const std::vector<std::string>& left_out, Medium medium)
{
    if (left_out.empty()) {
        return;
    }
    if (medium == Medium::page) {
        Items items;
        for (const std::string& reason : left_out) {
            items.items.push_back({reason});
        }
        document.add(Heading{"Results left out"});
        document.add(std::move(items));
        return;
    }
    for (const std::string& reason : left_out) {
        const std::string_view words = medium == Medium::markdown ? "Left out" : "left out";
        document.add(Paragraph{fmt::format("{}: {}", words, reason), Tone::caution});
    }
}

}  // namespace

Document document(const HistoryReport& report, const Audience& audience)
{
    const std::vector<History>& histories = report.histories.histories;
    const bool is_one = histories.size() == 1;
    Document document{.kicker = "memsweep history",
                      .title = is_one ? histories.front().scenario : "History",
                      .description = is_one ? histories.front().description : ""};
    if (audience.medium == Medium::page && histories.size() > 1) {
        document.add(
            Paragraph{fmt::format("{} scenarios or machines: runs of one are no points on the line of another, so "
                                  "each has a part of its own.",
                                  histories.size())});
    }
    for (const History& history : histories) {
        add_history(document, history, !is_one, audience);
    }
    add_left_out(document, report.histories.left_out, audience.medium);
    return document;
}

}  // namespace memsweep::reporters
