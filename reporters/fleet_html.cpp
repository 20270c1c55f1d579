#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/measure/format.hpp"
#include "reporters/fleet_chart.hpp"
#include "reporters/fleet_formats.hpp"
#include "reporters/html_charts.hpp"
#include "reporters/html_page.hpp"
#include "reporters/html_table.hpp"
#include "reporters/html_text.hpp"
#include "reporters/run_facts.hpp"
#include "reporters/utf8.hpp"
#include "reporters/value_text.hpp"

namespace memsweep::reporters {
namespace {

constexpr std::size_t most_charts = 16;
constexpr std::size_t small_fleet = 32;       // every host of it has a part of its own
constexpr std::size_t most_drill_downs = 64;  // of a larger one the worst hosts
constexpr std::size_t most_rows = 24;
constexpr std::size_t most_hosts_listed = 2000;

std::size_t outliers_of(const FleetReport& report, const measure::Spread& spread)
{
    return static_cast<std::size_t>(std::ranges::count_if(report.judgement.outliers, [&](const auto& one) {
        return one.metric == spread.metric && one.is_worse && report.judgement.kind[one.host] == spread.kind;
    }));
}

// Those with outliers first, then what a reader looks for; at most a few.
std::vector<const measure::Spread*> drawn(const FleetReport& report)
{
    constexpr std::array<std::string_view, 4> usual{"bandwidth", "latency", "time_per_op", "wall_time"};
    std::vector<std::pair<std::size_t, const measure::Spread*>> ranked;
    for (const measure::Spread& spread : report.judgement.spreads) {
        const std::size_t outliers = outliers_of(report, spread);
        const bool is_usual = std::ranges::find(usual, report.fleet->metrics[spread.metric].name) != usual.end();
        if (outliers > 0 || (is_usual && spread.judgement.hosts > 1)) {
            ranked.emplace_back(outliers, &spread);
        }
    }
    std::ranges::stable_sort(ranked, std::ranges::greater{}, [](const auto& entry) { return entry.first; });
    std::vector<const measure::Spread*> chosen;
    for (std::size_t i = 0; i < std::min(ranked.size(), most_charts); ++i) {
        chosen.push_back(ranked[i].second);
    }
    return chosen;
}

// What the host measured beside what is usual for its kind, the furthest out first.
Table figures_of(const FleetReport& report, std::size_t host)
{
    const model::Fleet& fleet = *report.fleet;
    Table table{.title = fmt::format("Figures of {}", fleet.hosts[host].name), .note = "beside the median of its kind"};
    table.columns = {{.title = "case", .is_key = true},      {.title = "metric", .is_key = true, .is_word = true},
                     {.title = "values", .is_number = true}, {.title = "median", .is_number = true},
                     {.title = "usual", .is_number = true},  {.title = "ratio", .is_number = true}};
    for (const measure::Spread& spread : report.judgement.spreads) {
        const model::FleetMetric& metric = fleet.metrics[spread.metric];
        if (spread.kind != report.judgement.kind[host] || metric.n[host] == 0) {
            continue;
        }
        const double value = metric.median[host];
        const double usual = spread.judgement.median;
        const bool is_outlier = std::ranges::any_of(report.judgement.outliers, [&](const auto& one) {
            return one.metric == spread.metric && one.host == host && one.is_worse;
        });
        Cell cell = value_cell(value, metric.unit);
        cell.tone = is_outlier ? Tone::bad : Tone::plain;
        table.rows.push_back({{.text = metric.case_id},
                              {.text = metric.name},
                              {.text = fmt::format("{}", metric.n[host])},
                              std::move(cell),
                              value_cell(usual, metric.unit),
                              {.text = value > 0 && usual > 0 ? measure::format_factor(value / usual) + "x" : ""}});
    }
    return table;
}

std::string host_html(const FleetReport& report, std::size_t index, std::size_t& tables)
{
    const model::FleetHost& host = report.fleet->hosts[index];
    const bool bad =
        std::ranges::find(report.judgement.bad, index, &measure::BadHost::host) != report.judgement.bad.end();
    std::vector<Fact> facts{{"result", fmt::format("{}", fmt::join(host.sources, ", "))},
                            {"run", fmt::format("{}", fmt::join(host.run_ids, ", "))},
                            {"started", host.started},
                            {"exit code", fmt::format("{}", host.exit_code)},
                            {"memsweep", host.version}};
    for (const auto& [name, value] : host.tags) {
        facts.push_back({name, value});
    }
    const std::vector<Fact> machine = machine_facts(host.machine);
    facts.insert(facts.end(), machine.begin(), machine.end());
    std::string problems;
    for (const model::FleetProblem& problem : host.problems) {
        problems += fmt::format("<li class=\"bad\">{}: {}</li>\n", escaped(problem.case_id), escaped(problem.reason));
    }
    return fmt::format("<details class=\"more\" id=\"host-{}\"><summary>{}{}</summary>\n{}{}{}</details>\n", index,
                       escaped(host.name), bad ? ": not like the others" : "",
                       problems.empty() ? "" : "<ul class=\"plain\">\n" + problems + "</ul>\n", facts_html(facts),
                       table_html(figures_of(report, index), fmt::format("table-{}", ++tables),
                                  {.is_tall = true, .is_sortable = true}));
}

std::string hosts_html(const FleetReport& report, std::size_t& tables)
{
    const std::size_t count = report.fleet->hosts.size();
    std::vector<std::size_t> chosen;
    for (const measure::BadHost& bad : report.judgement.bad) {
        chosen.push_back(bad.host);
    }
    for (std::size_t host = 0; host < count && count <= small_fleet; ++host) {
        if (std::ranges::find(chosen, host) == chosen.end()) {
            chosen.push_back(host);
        }
    }
    chosen.resize(std::min(chosen.size(), most_drill_downs));
    std::string out = chosen.empty() ? "" : "<h2>Host by host</h2>\n";
    for (const std::size_t host : chosen) {
        out += host_html(report, host, tables);
    }
    Table hosts = hosts_table(report);
    if (hosts.rows.size() > most_hosts_listed) {
        hosts.note = fmt::format("the first {} of {}; the CSV has all", most_hosts_listed, hosts.rows.size());
        hosts.rows.resize(most_hosts_listed);
    }
    return out +
           fmt::format("<details class=\"data\"><summary>{}</summary>\n{}</details>\n", "All hosts",
                       table_html(hosts, fmt::format("table-{}", ++tables), {.is_tall = true, .is_sortable = true}));
}

}  // namespace

std::string to_html(const FleetReport& report)
{
    const model::Fleet& fleet = *report.fleet;
    std::size_t tables = 0;
    std::size_t charts = 0;
    std::string body = verdict_html(headline(report), measure::fleet_findings(fleet, report.judgement));
    body += fmt::format("<p class=\"muted\">{}</p>\n", escaped(span_text(fleet)));
    const auto add_table = [&](const Table& table) {
        if (!table.rows.empty()) {
            body += table_html(table, fmt::format("table-{}", ++tables),
                               {.is_tall = table.rows.size() > most_rows, .is_sortable = true});
        }
    };
    add_table(bad_hosts_table(report));
    for (const Table& matrix : matrix_tables(fleet)) {
        add_table(matrix);
    }
    ChartSection section;
    for (const measure::Spread* spread : drawn(report)) {
        section.charts.push_back(fleet_chart(report, *spread));
    }
    if (!section.charts.empty()) {
        body += "<h2>Over the hosts</h2>\n" + charts_html({section}, charts);
    }
    add_table(outliers_table(report));
    body += hosts_html(report, tables);
    const Table spreads = spreads_table(report, true);
    body += fmt::format("<details class=\"data\"><summary>{}</summary>\n{}</details>\n", escaped(spreads.title),
                        table_html(spreads, fmt::format("table-{}", ++tables), {.is_tall = true, .is_sortable = true}));
    return page_html({.kicker = "memsweep fleet",
                      .title = fleet.scenario,
                      .description = fleet.description,
                      .body = std::move(body),
                      .with_charts = charts > 0});
}

}  // namespace memsweep::reporters
