#include "reporters/document/fleet_document.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/measure/format.hpp"
#include "reporters/document/fleet_chart.hpp"
#include "reporters/document/value_text.hpp"

namespace memsweep::reporters {
namespace {

constexpr std::size_t max_charts = 16;
constexpr std::size_t small_fleet = 32;      // every host of it has a part of its own
constexpr std::size_t max_drill_downs = 64;  // of a larger one the worst hosts
constexpr std::size_t max_open_rows = 24;
constexpr std::size_t max_hosts_listed = 2000;
constexpr std::size_t max_terminal_rows = 40;
constexpr std::size_t max_markdown_rows = 50;

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
    for (std::size_t i = 0; i < std::min(ranked.size(), max_charts); ++i) {
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

std::vector<Fact> facts_of(const model::FleetHost& host)
{
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
    return facts;
}

Fold host_fold(const FleetReport& report, std::size_t index)
{
    const model::FleetHost& host = report.fleet->hosts[index];
    const bool bad =
        std::ranges::find(report.judgement.bad, index, &measure::BadHost::host) != report.judgement.bad.end();
    Items problems;
    for (const model::FleetProblem& problem : host.problems) {
        problems.items.push_back({fmt::format("{}: {}", problem.case_id, problem.reason), Tone::bad});
    }
    Fold fold{.summary = host.name + (bad ? ": not like the others" : ""),
              .blocks = {},
              .kind = Fold::Kind::section,
              .id = fmt::format("host-{}", index)};
    fold.blocks.push_back({std::move(problems)});
    fold.blocks.push_back({Facts{facts_of(host)}});
    fold.blocks.push_back({TableBlock{.table = figures_of(report, index), .is_tall = true, .is_sortable = true}});
    return fold;
}

std::vector<std::size_t> hosts_in_detail(const FleetReport& report)
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
    chosen.resize(std::min(chosen.size(), max_drill_downs));
    return chosen;
}

void add_hosts(Document& document, const FleetReport& report)
{
    const std::vector<std::size_t> chosen = hosts_in_detail(report);
    if (!chosen.empty()) {
        document.add(Heading{"Host by host"});
    }
    for (const std::size_t host : chosen) {
        document.add(host_fold(report, host));
    }
    Table hosts = hosts_table(report);
    if (hosts.rows.size() > max_hosts_listed) {
        hosts.note = fmt::format("the first {} of {}; the CSV has all", max_hosts_listed, hosts.rows.size());
        hosts.rows.resize(max_hosts_listed);
    }
    document.add(folded("All hosts", {.table = std::move(hosts), .is_tall = true, .is_sortable = true}));
}

void add_sortable(Document& document, Table table)
{
    if (!table.rows.empty()) {
        const bool is_tall = table.rows.size() > max_open_rows;
        document.add(TableBlock{.table = std::move(table), .is_tall = is_tall, .is_sortable = true, .is_titled = true});
    }
}

void add_bad_hosts(Document& document, const FleetReport& report, Medium medium)
{
    Table bad = bad_hosts_table(report);
    if (medium == Medium::terminal && bad.rows.size() > max_terminal_rows) {
        bad.note = fmt::format("the first {} of {}", max_terminal_rows, bad.rows.size());
        bad.rows.resize(max_terminal_rows);
    }
    if (medium == Medium::markdown) {
        bad.rows.resize(std::min(bad.rows.size(), max_markdown_rows));
    }
    if (!bad.rows.empty()) {
        const bool is_tall = bad.rows.size() > max_open_rows;
        document.add(TableBlock{.table = std::move(bad), .is_tall = is_tall, .is_sortable = true});
    }
}

bool has_room(const Table& matrix, Medium medium)
{
    return medium == Medium::page || (medium == Medium::terminal ? matrix.columns.size() <= max_terminal_rows
                                                                 : matrix.rows.size() <= max_markdown_rows);
}

void add_charts(Document& document, const FleetReport& report)
{
    ChartSection section;
    for (const measure::Spread* spread : drawn(report)) {
        section.charts.push_back(fleet_chart(report, *spread));
    }
    if (!section.charts.empty()) {
        document.add(Heading{"Over the hosts"});
        document.add(Charts{{std::move(section)}});
    }
}

}  // namespace

Document document(const FleetReport& report, const Audience& audience)
{
    const model::Fleet& fleet = *report.fleet;
    const bool is_page = audience.medium == Medium::page;
    Document document{.kicker = "memsweep fleet", .title = fleet.scenario, .description = fleet.description};
    document.add(Opening{headline(report), measure::fleet_findings(fleet, report.judgement), span_text(fleet)});
    add_bad_hosts(document, report, audience.medium);
    for (Table& matrix : matrix_tables(fleet)) {
        if (has_room(matrix, audience.medium)) {
            add_sortable(document, std::move(matrix));
        }
    }
    if (is_page) {
        add_charts(document, report);
        add_sortable(document, outliers_table(report));
        add_hosts(document, report);
    }
    Table spreads = spreads_table(report, is_page || audience.verbose);
    std::string title = audience.medium == Medium::markdown ? "Over the hosts" : spreads.title;
    document.add(folded(std::move(title), {.table = std::move(spreads), .is_tall = true, .is_sortable = true}));
    return document;
}

}  // namespace memsweep::reporters
