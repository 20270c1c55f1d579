#include "reporters/document/fleet.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/measure/format.hpp"
#include "reporters/document/case_keys.hpp"
#include "reporters/document/fleet_tables.hpp"
#include "reporters/document/run_document.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/text/json_parse.hpp"
#include "reporters/wording/fleet_words.hpp"

namespace memsweep::reporters {
namespace {

Headline fleet_headline(const FleetReport& report)
{
    const model::Fleet& fleet = *report.fleet;
    constexpr std::size_t max_names = 4;
    const std::string hosts = fmt::format("{} of {}", plural(fleet.hosts.size(), "host"), fleet.scenario);
    std::vector<std::string> parts;
    if (const std::size_t missing = model::count_missing(fleet); missing > 0) {
        parts.push_back(fmt::format(
            "{} missing{}", missing,
            fleet.missing.empty() ? "" : fmt::format(" ({}{})", fleet.missing.front(), missing > 1 ? ", ..." : "")));
    }
    if (!report.judgement.bad.empty()) {
        std::vector<std::string> names;
        for (const measure::BadHost& bad : report.judgement.bad) {
            if (names.size() < max_names) {
                names.push_back(fleet.hosts[bad.host].name);
            }
        }
        const std::size_t more = report.judgement.bad.size() - names.size();
        parts.push_back(fmt::format("{} bad: {}{}", report.judgement.bad.size(), listed(names),
                                    more > 0 ? fmt::format(" and {} more", more) : std::string{}));
    }
    if (parts.empty()) {
        const bool any_judged = std::ranges::any_of(
            report.judgement.spreads, [](const measure::Spread& spread) { return spread.judgement.hosts >= 3; });
        return {
            fmt::format("{}: {}", hosts,
                        any_judged ? "none is unlike the others." : "too few of a kind to tell any from the others."),
            any_judged ? Tone::good : Tone::caution};
    }
    return {fmt::format("{}: {}.", hosts, listed(parts, "; ")), Tone::bad};
}

// "4 hosts, from ... to ..."
std::string fleet_span(const model::Fleet& fleet)
{
    const std::string came = fleet.expected ? fmt::format("{} of {} hosts", fleet.hosts.size(), *fleet.expected)
                                            : plural(fleet.hosts.size(), "host");
    return fmt::format("{}, from {} to {}", came, fleet.started, fleet.ended.empty() ? "?" : fleet.ended);
}

constexpr std::size_t max_charts = 16;
constexpr std::size_t small_fleet = 32;      // every host of it has a part of its own
constexpr std::size_t max_drill_downs = 64;  // only the worst hosts of a larger fleet
constexpr std::size_t max_hosts_listed = 2000;
constexpr std::size_t max_brief_rows = 40;

// Those with outliers first, then what a reader looks for; at most a few.
std::vector<const measure::Spread*> drawn_spreads(const FleetReport& report)
{
    std::vector<std::pair<std::size_t, const measure::Spread*>> ranked;
    for (const measure::Spread& spread : report.judgement.spreads) {
        const std::size_t outliers = count_outliers(report, spread);
        const bool is_usual = model::shown_of(report.fleet->metrics[spread.metric].name).in_brief;
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

std::vector<Fact> facts_of(const model::FleetHost& host)
{
    std::vector<Fact> facts{{"result", listed(host.sources)},
                            {"run", listed(host.run_ids)},
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

Section host_section(const FleetReport& report, std::size_t index)
{
    const model::FleetHost& host = report.fleet->hosts[index];
    Items problems;
    for (const model::FleetProblem& problem : host.problems) {
        problems.items.push_back({fmt::format("{}: {}", problem.case_id, problem.reason), Tone::bad});
    }
    return {.title = {},
            .summary = host.name + (is_bad(report, index) ? ": not like the others" : ""),
            .blocks = {{std::move(problems)},
                       {Facts{facts_of(host)}},
                       {TableBlock{.table = figures_of_host(report, index), .is_sortable = true}}},
            .id = fmt::format("host-{}", index)};
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

Blocks host_blocks(const FleetReport& report)
{
    Document document;
    const std::vector<std::size_t> chosen = hosts_in_detail(report);
    if (!chosen.empty()) {
        document.add(Heading{"Host by host"}, Weight::appendix);
    }
    for (const std::size_t host : chosen) {
        document.add(host_section(report, host), Weight::appendix);
    }
    Table hosts = hosts_table(report);
    if (hosts.rows.size() > max_hosts_listed) {
        hosts.note = fmt::format("the first {} of {}; the CSV has all", max_hosts_listed, hosts.rows.size());
        hosts.rows.resize(max_hosts_listed);
    }
    document.add(Section{.title = {},
                         .summary = "All hosts",
                         .blocks = {{TableBlock{.table = std::move(hosts), .is_sortable = true}}}},
                 Weight::appendix);
    return std::move(document.blocks);
}

constexpr std::size_t max_marks = 400;

constexpr std::string_view fleet_spec = R"json({
"width": 640, "height": 70,
"usermeta": {"room": 90},
"data": {"values": []},
"encoding": {"x": {"field": "x", "type": "quantitative", "scale": {"zero": false, "padding": 24}}},
"layer": [
  {"transform": [{"filter": "datum.is === 'half'"}],
   "mark": {"type": "rule", "style": "curve-area", "strokeWidth": 14, "opacity": 0.3},
   "encoding": {"x2": {"field": "end"}, "y": {"value": {"expr": "height - 35"}}}},
  {"transform": [{"filter": "datum.is === 'host'"}],
   "mark": {"type": "tick", "thickness": 1.5, "height": 22, "opacity": 0.7},
   "encoding": {"y": {"value": {"expr": "height - 35"}}, "tooltip": [{"field": "name", "type": "nominal", "title": "host"}, {"field": "value", "type": "nominal", "title": "median"}]}},
  {"transform": [{"filter": "datum.is === 'outlier'"}],
   "mark": {"type": "point", "filled": true, "size": 60, "style": "bad", "opacity": 1},
   "encoding": {"y": {"value": {"expr": "height - 35"}}, "tooltip": [{"field": "name", "type": "nominal", "title": "host"}, {"field": "value", "type": "nominal", "title": "median"},
     {"field": "why", "type": "nominal", "title": "evidence"}]}},
  {"transform": [{"filter": "datum.is === 'outlier'"}],
   "mark": {"type": "text", "style": "bad", "dy": {"expr": "-12 - 12 * datum.lane"}, "baseline": "bottom"},
   "encoding": {"y": {"value": {"expr": "height - 35"}}, "text": {"field": "name", "type": "nominal"}}}
]})json";

std::size_t longest_name(const model::Fleet& fleet)
{
    std::size_t letters = 0;
    std::ranges::for_each(fleet.hosts, [&](const auto& host) { letters = std::max(letters, host.name.size()); });
    return letters;
}

// On how many heights the names of outliers stand, so that those of near ones do not cover each other.
class Lanes {
  public:
    // Keeps names of so many letters apart on an axis of this span, in a plot as narrow as a phone shows it.
    Lanes(double span, std::size_t letters) : apart_{span * (0.04 + 0.04 * static_cast<double>(letters))} {}

    // The height for a name at this place; places ascend.
    std::size_t lane_at(double place)
    {
        for (std::size_t lane = 0; lane < ends_.size(); ++lane) {
            if (place - ends_[lane] > apart_) {
                ends_[lane] = place;
                return lane;
            }
        }
        ends_.push_back(place);
        return ends_.size() - 1;
    }
    [[nodiscard]] std::size_t count() const { return ends_.size(); }

  private:
    double apart_;
    std::vector<double> ends_;  // the last place on each
};

// How a quantity is spread over the hosts: a mark for every host, the outliers named. Of more than 400 hosts those that
// are no outliers are thinned, both ends kept.
Chart fleet_chart(const FleetReport& report, const measure::Spread& spread)
{
    const model::Fleet& fleet = *report.fleet;
    const model::FleetMetric& metric = fleet.metrics[spread.metric];
    std::vector<HostPlace> hosts = places_in(report, spread);
    std::ranges::stable_sort(hosts, {}, &HostPlace::value);
    const std::size_t step = hosts.size() / max_marks + 1;
    const std::string title =
        inert_text(fmt::format("{}: {}", short_id(metric.case_id, fleet.scenario), measure::spoken(metric.name)));
    Json spec = json_of(fleet_spec);
    Json& values = spec["data"]["values"];
    values.push_back(
        {{"is", "half"}, {"x", chart_number(spread.judgement.low)}, {"end", chart_number(spread.judgement.high)}});
    Table table{.title = title, .note = "the outliers, and the hosts drawn"};
    table.columns = {Column::key("host"), Column::number("median"), Column::text("evidence")};
    std::vector<std::string> named;
    Lanes lanes{hosts.back().value - hosts.front().value, longest_name(fleet)};
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        const measure::Outlier* outlier = outlier_at(report, spread.metric, hosts[i].host);
        if (outlier == nullptr && i % step != 0 && i + 1 != hosts.size()) {
            continue;
        }
        const std::string& name = fleet.hosts[hosts[i].host].name;
        const std::string why = outlier == nullptr ? "" : outlier_text(fleet, *outlier);
        values.push_back({{"is", outlier == nullptr ? "host" : "outlier"},
                          {"x", chart_number(hosts[i].value)},
                          {"name", inert_text(name)},
                          {"value", value_text(hosts[i].value, metric.unit)},
                          {"lane", outlier == nullptr ? 0 : lanes.lane_at(hosts[i].value)},
                          {"why", inert_text(why)}});
        table.rows.push_back({{.text = name},
                              value_cell(hosts[i].value, metric.unit),
                              {.text = why, .tone = outlier == nullptr ? Tone::plain : Tone::bad}});
        if (outlier != nullptr) {
            named.push_back(name);
        }
    }
    spec["height"] = 58 + 12 * std::max<std::size_t>(lanes.count(), 1);
    spec["encoding"]["x"]["title"] = inert_text(measure::spoken(metric.name));
    constexpr int half_a_label = 26;  // in pixels: the first and the last one stay inside
    spec["encoding"]["x"]["axis"] = {
        {"labelExpr", axis_label(metric.unit)}, {"tickCount", 6}, {"labelFlush", half_a_label}};
    const std::string about = fmt::format(
        "{}: median {}, half of them between {} and {}{}. {} The axis does not begin at 0.",
        plural(spread.judgement.hosts, "host"), value_text(spread.judgement.median, metric.unit),
        value_text(spread.judgement.low, metric.unit), value_text(spread.judgement.high, metric.unit), " (the band)",
        named.empty() ? "No outlier." : fmt::format("{}: {}.", plural(named.size(), "outlier"), listed(named)));
    return {.title = title,
            .about = inert_text(about),
            .spoken = inert_text(about),
            .spec = std::move(spec),
            .data = {std::move(table)},
            .long_data = true};
}

std::vector<ChartSection> fleet_charts(const FleetReport& report)
{
    ChartSection section;
    for (const measure::Spread* spread : drawn_spreads(report)) {
        section.charts.push_back(fleet_chart(report, *spread));
    }
    return {section};
}

}  // namespace

Document document(const FleetReport& report)
{
    const model::Fleet& fleet = *report.fleet;
    Document document{.kicker = "memsweep fleet", .title = fleet.scenario, .description = fleet.description};
    document.add(Opening{fleet_headline(report), fleet_statements(fleet, report.judgement), fleet_span(fleet)});
    document.add_table({.table = bad_hosts_table(report), .is_sortable = true, .most_rows = max_brief_rows});
    for (Table& matrix : matrix_tables(fleet)) {
        const Weight weight = matrix.rows.size() > max_brief_rows ? Weight::appendix : Weight::answer;
        document.add_table({.table = std::move(matrix), .is_sortable = true}, weight);
    }
    document.add(Charts{.title = "Over the hosts", .sections = [&report] { return fleet_charts(report); }});
    document.add_later(Weight::appendix,
                       [&report] { return TableBlock{.table = outliers_table(report), .is_sortable = true}; });
    document.add(Later{[&report] { return host_blocks(report); }}, Weight::appendix);
    document.add(Section{.title = {},
                         .summary = "Over the hosts",
                         .blocks = {{TableBlock{.table = spreads_table(report, false)}}}},
                 Weight::brief);
    document.add_later(Weight::detail,
                       [&report] { return TableBlock{.table = spreads_table(report, true), .is_sortable = true}; });
    return document;
}

}  // namespace memsweep::reporters
