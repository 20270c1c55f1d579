#include "reporters/comparison_html.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "core/measure/explain.hpp"
#include "reporters/comparison_chart.hpp"
#include "reporters/comparison_tables.hpp"
#include "reporters/curve_chart.hpp"
#include "reporters/fault_chart.hpp"
#include "reporters/html_charts.hpp"
#include "reporters/html_page.hpp"
#include "reporters/html_table.hpp"
#include "reporters/html_text.hpp"

namespace memsweep::reporters {
namespace {

using measure::Comparison;
using measure::MetricComparison;

constexpr std::size_t most_unfolded_cases = 4;

// Of the page: what is numbered, and how much of each curve is drawn.
struct Numbers {
    std::size_t chart{};
    std::size_t table{};
    CurveDetail detail;
};

std::vector<measure::Finding> findings_of(const ComparisonReport& report, const Comparison& comparison)
{
    std::vector<measure::Finding> findings = comparison.findings;
    for (const std::string& difference : comparison.overruled) {
        findings.push_back({measure::Importance::warning, "compared by force, although " + difference});
    }
    if (!report.gate && measure::outcome(comparison) == measure::Outcome::regressed) {
        findings.push_back({measure::Importance::note, "the gate is off: a regression does not set the exit code"});
    }
    return findings;
}

Table sides_table(const Comparison& comparison)
{
    const auto known = [](const std::string& text) { return text.empty() ? std::string{"unknown"} : text; };
    Table table{.title = "Before and after"};
    table.columns = {{.title = "side", .is_key = true}, {.title = "result"}, {.title = "started"}, {.title = "host"}};
    for (const auto& [name, side] :
         {std::pair{"base", &comparison.base}, std::pair{"candidate", &comparison.candidate}}) {
        table.rows.push_back(
            {{.text = name}, {.text = side->name}, {.text = known(side->started)}, {.text = known(side->host)}});
    }
    return table;
}

bool is_changed(const Comparison& comparison, std::size_t pair)
{
    return std::ranges::any_of(comparison.metrics, [&](const MetricComparison& metric) {
        return metric.pair == pair && measure::is_change(metric.verdict);
    });
}

// Memory over time and page faults, the base above the candidate.
std::vector<ChartSection> charts_of(const Comparison& comparison, const measure::CasePair& pair,
                                    const CurveDetail& detail)
{
    if (pair.base == nullptr || pair.candidate == nullptr) {
        return {};
    }
    std::vector<std::string> labels{"base: " + comparison.base.name, "candidate: " + comparison.candidate.name};
    make_distinct(labels);
    const ChartGroup group{{}, {{labels[0], pair.base}, {labels[1], pair.candidate}}};
    ChartSection section;
    for (std::optional<Chart> chart : {curve_chart(group, detail), fault_chart(group)}) {
        if (chart) {
            section.charts.push_back(std::move(*chart));
        }
    }
    return section.charts.empty() ? std::vector<ChartSection>{} : std::vector{std::move(section)};
}

std::string explanation_html(const ComparisonReport& report, const Comparison& comparison, std::size_t pair)
{
    if (!report.explain) {
        return {};
    }
    std::string items;
    for (const MetricComparison* metric : shown(report, comparison)) {
        if (metric->pair == pair && !metric->metric.empty()) {
            std::string sentences;
            for (const std::string& sentence : measure::explanation(*metric, comparison.noisy_metrics)) {
                sentences += fmt::format("<p>{}</p>", escaped(sentence));
            }
            items += fmt::format("<li>{}{}</li>\n", escaped(metric->metric), sentences);
        }
    }
    return fmt::format("<details><summary>Why</summary>\n<ul class=\"plain\">\n{}</ul>\n</details>\n", items);
}

std::string case_html(const ComparisonReport& report, const Comparison& comparison, const CaseTable& one, bool fold,
                      Numbers& numbers)
{
    std::string content = table_html(one.table, fmt::format("table-{}", ++numbers.table), {.is_sortable = true});
    content += charts_html(charts_of(comparison, comparison.pairs[one.pair], numbers.detail), numbers.chart);
    content += explanation_html(report, comparison, one.pair);
    return fold ? fmt::format("<details class=\"more\"><summary>{}</summary>\n{}</details>\n", escaped(one.table.title),
                              content)
                : content;
}

// Those that changed first, and open as far as a reader scrolls; the others open on demand.
std::string cases_html(const ComparisonReport& report, const Comparison& comparison, Numbers& numbers)
{
    std::vector<CaseTable> tables = case_tables(report, comparison);
    std::stable_partition(tables.begin(), tables.end(),
                          [&](const CaseTable& one) { return is_changed(comparison, one.pair); });
    std::string out;
    for (std::size_t i = 0; i < tables.size(); ++i) {
        const bool fold = i >= most_unfolded_cases || (i > 0 && !is_changed(comparison, tables[i].pair));
        out += case_html(report, comparison, tables[i], fold, numbers);
    }
    return out.empty() ? out : "<h2>Case by case</h2>\n" + out;
}

std::string not_compared_html(const ComparisonReport& report, const Comparison& comparison)
{
    std::string items;
    for (const MetricComparison* metric : shown(report, comparison)) {
        if (metric->metric.empty()) {
            items += fmt::format("<li>{} <span class=\"{}\">{}</span><p>{}</p></li>\n",
                                 escaped(case_title(comparison, comparison.cases[metric->pair])),
                                 tone_class(tone_of(metric->verdict)), model::name_of(metric->verdict),
                                 escaped(metric->why));
        }
    }
    return items.empty() ? items : "<h2>Cases not compared</h2>\n<ul class=\"plain\">\n" + items + "</ul>\n";
}

std::string comparison_html(const ComparisonReport& report, const Comparison& comparison, Numbers& numbers)
{
    std::string out = report.comparisons.size() > 1 ? fmt::format("<h2>{}</h2>\n", escaped(comparison.candidate.name))
                                                    : std::string{};
    out += verdict_html(headline(comparison), findings_of(report, comparison));
    if (std::optional<Chart> chart = comparison_chart(comparison)) {
        out += charts_html({ChartSection{{}, {std::move(*chart)}}}, numbers.chart);
    }
    return out + table_html(sides_table(comparison), fmt::format("table-{}", ++numbers.table)) +
           not_compared_html(report, comparison) + cases_html(report, comparison, numbers);
}

CurveDetail detail_of(const ComparisonReport& report)
{
    Cases cases;
    for (const Comparison& comparison : report.comparisons) {
        for (const measure::CasePair& pair : comparison.pairs) {
            std::ranges::copy_if(std::array{pair.base, pair.candidate}, std::back_inserter(cases),
                                 [](const model::CaseReport* one) { return one != nullptr; });
        }
    }
    return curve_detail(cases);
}

// The files without their folders, unless that makes them the same.
std::string title_of(const ComparisonReport& report)
{
    const auto short_name = [](const std::string& name) { return name.substr(name.rfind('/') + 1); };  // npos + 1 is 0
    const Comparison& first = report.comparisons.front();
    const std::string from = short_name(first.base.name);
    const std::string to = short_name(first.candidate.name);
    if (report.comparisons.size() > 1) {
        return fmt::format("{} results against {}", report.comparisons.size(), from);
    }
    return from == to ? fmt::format("{} against {}", first.candidate.name, first.base.name)
                      : fmt::format("{} against {}", to, from);
}

}  // namespace

std::string to_html(const ComparisonReport& report)
{
    Numbers numbers{.detail = detail_of(report)};
    std::string body;
    for (const Comparison& comparison : report.comparisons) {
        body += comparison_html(report, comparison, numbers);
    }
    const Comparison& first = report.comparisons.front();
    return page_html({.kicker = "memsweep comparison",
                      .title = title_of(report),
                      .description = first.cases.empty() ? std::string{} : first.cases.front().scenario,
                      .body = std::move(body),
                      .with_charts = numbers.chart > 0});
}

}  // namespace memsweep::reporters
