#include "reporters/html_writer.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/measure/findings.hpp"
#include "reporters/charts.hpp"
#include "reporters/figure_tables.hpp"
#include "reporters/html_charts.hpp"
#include "reporters/html_page.hpp"
#include "reporters/html_table.hpp"
#include "reporters/html_text.hpp"
#include "reporters/placement_table.hpp"
#include "reporters/replay_report.hpp"
#include "reporters/report_tables.hpp"
#include "reporters/warning_groups.hpp"

namespace memsweep::reporters {
namespace {

// More cases than this would push everything below out of sight: their tables scroll or open on demand.
constexpr std::size_t most_unfolded_cases = 24;

std::string folded(const Table& table, const std::string& id)
{
    return fmt::format("<details class=\"data\"><summary>{}</summary>\n{}</details>\n", escaped(table.title),
                       table_html(table, id, {.is_sortable = true}));
}

std::string optional_table(const std::optional<Table>& table, const std::string& id, bool fold)
{
    if (!table) {
        return {};
    }
    return fold ? folded(*table, id) : table_html(*table, id);
}

struct Numbers {
    std::size_t scenario{};
    std::size_t chart{};
};

std::string scenario_section(const ScenarioCases& group, const CurveDetail& detail, const std::string& page_title,
                             Numbers& numbers)
{
    const std::size_t index = ++numbers.scenario;
    const auto id = [&](std::string_view what) { return fmt::format("scenario-{}-{}", index, what); };
    const bool fold = group.cases.size() > most_unfolded_cases;
    std::string out = fmt::format("<h2>{}</h2>\n", group.scenario == page_title ? "Results" : escaped(group.scenario));
    if (const auto replays = replay_table(group.cases)) {
        out += table_html(*replays, id("replays"), {.is_tall = fold, .is_sortable = true});
        for (const std::string& sentence : replay_advice(group.cases)) {
            out += fmt::format("<p>{}</p>\n", escaped(sentence));
        }
    }
    if (const auto placements = placement_table(group.cases)) {
        out += table_html(*placements, id("placements"), {.is_tall = fold, .is_sortable = true});
    }
    out += table_html(overview_table(group.cases), id("cases"), {.is_tall = fold, .is_sortable = true});
    out += charts_html(chart_sections(group.cases, detail), numbers.chart);
    out += optional_table(points_table(group.cases), id("points"), fold);
    out += optional_table(phases_table(group.cases), id("phases"), fold);
    if (const auto calls = call_times_table(group.cases)) {
        out += folded(*calls, id("calls"));
    }
    return out + folded(metrics_table(group.cases), id("metrics"));
}

std::string matrices_section(const model::RunReport& report)
{
    std::string out;
    for (const measure::PlaceMatrix& matrix : measure::place_matrices(report.cases)) {
        out += table_html(matrix_table(matrix), "matrix-" + escaped(matrix.name));
    }
    return out.empty() ? out : "<h2>Between places</h2>\n" + out;
}

// In full, since a table cell has room for one word only.
std::string not_ok_section(const model::RunReport& report)
{
    std::string items;
    for (const model::CaseReport& one : report.cases) {
        if (one.status != model::Status::ok) {
            const std::string_view tone = one.status == model::Status::skipped ? "caution" : "bad";
            items += fmt::format("<li>{} <span class=\"{}\">{}</span><p>{}</p></li>\n", escaped(one.id), tone,
                                 model::name_of(one.status), escaped(one.reason));
        }
    }
    return items.empty() ? items : "<h2>Cases that are not ok</h2>\n<ul class=\"plain\">\n" + items + "</ul>\n";
}

std::string assertion_section(const model::RunReport& report)
{
    const std::optional<Table> table = assertions_table(report);
    return table ? "<h2>Assertions</h2>\n" + table_html(*table, "assertions") : std::string{};
}

// The first of a kind in the open, the others behind it.
std::string warning_group_html(const WarningGroup& group)
{
    std::string out = fmt::format("<li><span class=\"caution\">{}</span>: {}", escaped(group.code),
                                  escaped(group.warnings.front()->message));
    out += group.hint.empty() ? std::string{} : fmt::format("<p class=\"muted\">{}</p>", escaped(group.hint));
    if (group.warnings.size() > 1) {
        out += fmt::format("<details><summary>{} more like it</summary>\n", group.warnings.size() - 1);
        for (std::size_t i = 1; i < group.warnings.size(); ++i) {
            out += fmt::format("<p>{}</p>\n", escaped(group.warnings[i]->message));
        }
        out += "</details>";
    }
    return out + "</li>\n";
}

std::string warning_section(const model::RunReport& report)
{
    std::string items;
    for (const WarningGroup& group : warning_groups(report)) {
        items += warning_group_html(group);
    }
    return items.empty() ? items : "<h2>Warnings</h2>\n<ul class=\"plain\">\n" + items + "</ul>\n";
}

std::string facts_section(std::string_view title, const std::vector<Fact>& facts)
{
    return fmt::format("<h2>{}</h2>\n{}", title, facts_html(facts));
}

}  // namespace

std::string to_html(const model::RunReport& report)
{
    const CurveDetail detail = curve_detail(report);
    std::string results;
    Numbers numbers;
    for (const ScenarioCases& group : cases_by_scenario(report)) {
        results += scenario_section(group, detail, report.run.scenario_name, numbers);
    }
    std::string body = verdict_html(headline(report), measure::findings(report)) + results + matrices_section(report) +
                       not_ok_section(report) + assertion_section(report) + warning_section(report) +
                       facts_section("Run", run_facts(report)) +
                       facts_section("Machine", machine_facts(report.machine));
    return page_html({.kicker = fmt::format("memsweep result, {}", report.run.started),
                      .title = report.run.scenario_name,
                      .description = report.run.scenario_description,
                      .body = std::move(body),
                      .with_charts = numbers.chart > 0});
}

}  // namespace memsweep::reporters
