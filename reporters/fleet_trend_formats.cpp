#include "reporters/fleet_trend_formats.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/measure/format.hpp"
#include "core/model/tool_info.hpp"
#include "reporters/comparison_tables.hpp"
#include "reporters/html_page.hpp"
#include "reporters/html_table.hpp"
#include "reporters/html_text.hpp"
#include "reporters/json_parts.hpp"
#include "reporters/markdown_table.hpp"
#include "reporters/markdown_text.hpp"
#include "reporters/terminal_ink.hpp"
#include "reporters/terminal_table.hpp"
#include "reporters/value_text.hpp"

namespace memsweep::reporters {
namespace {

using measure::FleetChange;
using measure::FleetTrend;
using measure::HostChange;
using measure::Importance;
using measure::Verdict;

Headline headline(const FleetTrend& trend)
{
    const std::size_t worse = measure::count_changes(trend, Verdict::regressed);
    const std::size_t better = measure::count_changes(trend, Verdict::improved);
    const std::string hosts =
        fmt::format("{} against {}, {} in both", trend.candidate_name, trend.base_name, plural(trend.hosts, "host"));
    const bool bad = worse > 0 || !trend.newly_bad.empty();
    return {fmt::format("{}: {} of the fleet regressed, {} improved; {} newly bad, {} no longer.", hosts,
                        plural(worse, "quantity").ends_with('s') ? fmt::format("{} quantities", worse) : "1 quantity",
                        better, plural(trend.newly_bad.size(), "host"), trend.recovered.size()),
            bad ? Tone::bad : Tone::good};
}

std::vector<measure::Finding> findings(const FleetTrend& trend)
{
    constexpr std::size_t most = 8;
    std::vector<measure::Finding> found;
    const auto name = [&](Importance importance, std::string_view what, const std::vector<std::string>& hosts) {
        if (!hosts.empty()) {
            const std::size_t shown = std::min(hosts.size(), most);
            found.push_back(
                {importance,
                 fmt::format("{}: {}{}", what,
                             fmt::join(hosts.begin(), hosts.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                             shown < hosts.size() ? fmt::format(" and {} more", hosts.size() - shown) : "")});
        }
    };
    name(Importance::failure, "newly bad", trend.newly_bad);
    name(Importance::warning, "bad in both", trend.still_bad);
    name(Importance::note, "no longer bad", trend.recovered);
    name(Importance::warning, "not in the later run", trend.gone);
    name(Importance::note, "only in the later run", trend.added);
    std::size_t told = 0;
    for (const HostChange& one : trend.outlying) {
        if (one.is_worse && told++ < most) {
            found.push_back(
                {Importance::failure,
                 fmt::format("{}: {} of {} went from {} to {} ({}x, the others {}x)", one.host, one.metric, one.case_id,
                             measure::format_value(one.unit, one.base), measure::format_value(one.unit, one.candidate),
                             measure::format_factor(one.candidate / one.base), measure::format_factor(one.usual))});
        }
    }
    return found;
}

std::string effect(const FleetChange& change, double value)
{
    return change.shift.is_ratio ? measure::format_factor(value) + "x" : value_text(value, change.unit);
}

bool is_change(const FleetChange& change)
{
    return change.verdict == Verdict::regressed || change.verdict == Verdict::improved;
}

Table changes_table(const FleetTrend& trend, bool only_changed)
{
    Table table{.title = "The fleet as a whole",
                .note = "medians of the hosts that both runs have; each host against itself"};
    table.columns = {{.title = "case", .is_key = true},
                     {.title = "metric", .is_key = true, .is_word = true},
                     {.title = "verdict"},
                     {.title = "hosts", .is_number = true},
                     {.title = "before", .is_number = true},
                     {.title = "after", .is_number = true},
                     {.title = "change", .is_number = true},
                     {.title = "95 % interval", .is_number = true}};
    for (const FleetChange& change : trend.changes) {
        if (only_changed && !is_change(change)) {
            continue;
        }
        Cell verdict{.text = std::string{model::name_of(change.verdict)}, .exact = change.why};
        verdict.tone = tone_of(change.verdict);
        const auto& interval = change.shift.interval;
        table.rows.push_back(
            {{.text = change.case_id},
             {.text = change.metric},
             std::move(verdict),
             {.text = fmt::format("{}", change.hosts)},
             value_cell(change.base, change.unit),
             value_cell(change.candidate, change.unit),
             {.text = effect(change, change.shift.estimate)},
             {.text = interval ? fmt::format("{}..{}", effect(change, (*interval)[0]), effect(change, (*interval)[1]))
                               : ""}});
    }
    return table;
}

Table outlying_table(const FleetTrend& trend)
{
    Table table{.title = "Hosts that changed unlike the others", .note = "z among the changes of all hosts"};
    table.columns = {{.title = "host", .is_key = true, .is_word = true},
                     {.title = "case"},
                     {.title = "metric", .is_word = true},
                     {.title = "before", .is_number = true},
                     {.title = "after", .is_number = true},
                     {.title = "change", .is_number = true},
                     {.title = "others", .is_number = true},
                     {.title = "z", .is_number = true}};
    for (const HostChange& one : trend.outlying) {
        Cell after = value_cell(one.candidate, one.unit);
        after.tone = one.is_worse ? Tone::bad : Tone::good;
        table.rows.push_back({{.text = one.host},
                              {.text = one.case_id},
                              {.text = one.metric},
                              value_cell(one.base, one.unit),
                              std::move(after),
                              {.text = measure::format_factor(one.candidate / one.base) + "x"},
                              {.text = measure::format_factor(one.usual) + "x"},
                              {.text = fmt::format("{:+.1f}", one.z)}});
    }
    return table;
}

Json json_change(const FleetChange& change)
{
    const auto& interval = change.shift.interval;
    return {{"scenario", json_text(change.scenario)},
            {"case", json_text(change.case_id)},
            {"metric", json_text(change.metric)},
            {"unit", json_text(model::name_of(change.unit))},
            {"hosts", change.hosts},
            {"base", json_number(change.base)},
            {"candidate", json_number(change.candidate)},
            {"effect",
             {{"kind", change.shift.is_ratio ? "ratio" : "difference"},
              {"estimate", json_number(change.shift.estimate)},
              {"ci95",
               interval ? Json::array({json_number((*interval)[0]), json_number((*interval)[1])}) : Json(nullptr)}}},
            {"q", json_number(change.q)},
            {"verdict", json_text(model::name_of(change.verdict))},
            {"why", json_text(change.why)}};
}

Json json_outlying(const HostChange& one)
{
    return {{"host", json_text(one.host)},
            {"case", json_text(one.case_id)},
            {"metric", json_text(one.metric)},
            {"unit", json_text(model::name_of(one.unit))},
            {"base", json_number(one.base)},
            {"candidate", json_number(one.candidate)},
            {"usual_ratio", json_number(one.usual)},
            {"z", json_number(one.z)},
            {"q", json_number(one.q)},
            {"worse", one.is_worse}};
}

Json json_trend(const FleetTrend& trend)
{
    return {{"base", json_text(trend.base_name)},
            {"candidate", json_text(trend.candidate_name)},
            {"hosts", trend.hosts},
            {"newly_bad", json_texts(trend.newly_bad)},
            {"recovered", json_texts(trend.recovered)},
            {"still_bad", json_texts(trend.still_bad)},
            {"gone", json_texts(trend.gone)},
            {"added", json_texts(trend.added)},
            {"changes", json_list(trend.changes, json_change)},
            {"outlying", json_list(trend.outlying, json_outlying)}};
}

std::string to_text(const FleetTrendReport& report)
{
    return to_terminal(report, TerminalStyle{.width = 120, .color = false, .verbose = true});
}

}  // namespace

std::string to_terminal(const FleetTrendReport& report, const TerminalStyle& style)
{
    std::string out;
    for (const FleetTrend& trend : report.trends) {
        const Headline line = headline(trend);
        out += (out.empty() ? "" : "\n") + paragraph(line.text, "", style, line.tone);
        for (const measure::Finding& finding : findings(trend)) {
            out += paragraph(finding.text, "  * ", style, tone_of(finding.importance));
        }
        for (const Table& table :
             {outlying_table(trend), changes_table(trend, report.only_changed || !style.verbose)}) {
            if (!table.rows.empty()) {
                out += "\n" + table_text(table, style);
            }
        }
    }
    return out;
}

std::string to_markdown(const FleetTrendReport& report)
{
    std::string out;
    for (const FleetTrend& trend : report.trends) {
        const Headline line = headline(trend);
        out +=
            fmt::format("{}### {} {}\n\n", out.empty() ? "" : "\n", markdown_sign(line.tone), markdown_text(line.text));
        for (const measure::Finding& finding : findings(trend)) {
            out += fmt::format("- {}\n", markdown_text(finding.text));
        }
        for (const Table& table : {outlying_table(trend), changes_table(trend, true)}) {
            if (!table.rows.empty()) {
                out += fmt::format("\n**{}**\n\n{}", markdown_text(table.title), markdown_table(table));
            }
        }
        if (!report.only_changed) {
            out += fmt::format("\n<details><summary>All quantities</summary>\n\n{}\n</details>\n",
                               markdown_table(changes_table(trend, false)));
        }
    }
    return out;
}

std::string to_html(const FleetTrendReport& report)
{
    std::string body;
    std::size_t number = 0;
    for (const FleetTrend& trend : report.trends) {
        body += verdict_html(headline(trend), findings(trend));
        for (const Table& table : {outlying_table(trend), changes_table(trend, report.only_changed)}) {
            if (!table.rows.empty()) {
                body += table_html(table, fmt::format("table-{}", ++number), {.is_tall = true, .is_sortable = true});
            }
        }
    }
    return page_html({.kicker = "memsweep fleet comparison",
                      .title = report.trends.front().base_name + " and " + report.trends.front().candidate_name,
                      .description = "",
                      .body = std::move(body),
                      .with_charts = false});
}

std::string to_json(const FleetTrendReport& report)
{
    const Json document{{"format", "memsweep-fleet-trend"},
                        {"format_version", 1},
                        {"tool", json_tool(model::this_tool())},
                        {"trends", json_list(report.trends, json_trend)}};
    return pretty(document) + "\n";
}

const FleetTrendFormat* find_fleet_trend_format(std::string_view name)
{
    static constexpr std::array<FleetTrendFormat, 4> table{
        {{"text", to_text}, {"md", to_markdown}, {"json", to_json}, {"html", to_html}}};
    const auto* found = std::ranges::find(table, name, &FleetTrendFormat::name);
    return found == table.end() ? nullptr : found;
}

}  // namespace memsweep::reporters
