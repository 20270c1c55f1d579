#include "reporters/document/fleet_chart.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/measure/format.hpp"
#include "reporters/document/chart_numbers.hpp"
#include "reporters/document/value_text.hpp"
#include "reporters/text/json_parse.hpp"
#include "reporters/text/utf8.hpp"

namespace memsweep::reporters {
namespace {

constexpr std::size_t most_marks = 400;

constexpr std::string_view fleet_spec = R"json({
"$schema": "https://vega.github.io/schema/vega-lite/v6.json",
"width": 640, "height": 70,
"usermeta": {"room": 90},
"data": {"values": []},
"encoding": {"x": {"field": "x", "type": "quantitative", "scale": {"zero": false, "padding": 24}}},
"layer": [
  {"transform": [{"filter": "datum.is === 'half'"}],
   "mark": {"type": "rule", "style": "curve-area", "strokeWidth": 14, "opacity": 0.3},
   "encoding": {"x2": {"field": "end"}, "y": {"value": 35}}},
  {"transform": [{"filter": "datum.is === 'host'"}],
   "mark": {"type": "tick", "thickness": 1.5, "height": 22, "opacity": 0.7},
   "encoding": {"y": {"value": 35}, "tooltip": [{"field": "name", "type": "nominal", "title": "host"}, {"field": "value", "type": "nominal", "title": "median"}]}},
  {"transform": [{"filter": "datum.is === 'outlier'"}],
   "mark": {"type": "point", "filled": true, "size": 60, "style": "bad", "opacity": 1},
   "encoding": {"y": {"value": 35}, "tooltip": [{"field": "name", "type": "nominal", "title": "host"}, {"field": "value", "type": "nominal", "title": "median"},
     {"field": "why", "type": "nominal", "title": "evidence"}]}},
  {"transform": [{"filter": "datum.is === 'outlier'"}],
   "mark": {"type": "text", "style": "bad", "dy": -16, "baseline": "bottom"},
   "encoding": {"y": {"value": 35}, "text": {"field": "name", "type": "nominal"}}}
]})json";

struct HostPlace {
    std::size_t host;
    double value;
};

std::vector<HostPlace> places(const FleetReport& report, const measure::Spread& spread)
{
    const model::FleetMetric& metric = report.fleet->metrics[spread.metric];
    std::vector<HostPlace> hosts;
    for (std::size_t host = 0; host < metric.median.size(); ++host) {
        if (report.judgement.kind[host] == spread.kind && std::isfinite(metric.median[host])) {
            hosts.push_back({host, metric.median[host]});
        }
    }
    std::ranges::stable_sort(hosts, {}, &HostPlace::value);
    return hosts;
}

const measure::Outlier* outlier_at(const FleetReport& report, std::size_t metric, std::size_t host)
{
    const auto found = std::ranges::find_if(report.judgement.outliers, [&](const measure::Outlier& one) {
        return one.metric == metric && one.host == host && one.is_worse;
    });
    return found == report.judgement.outliers.end() ? nullptr : &*found;
}

}  // namespace

Chart fleet_chart(const FleetReport& report, const measure::Spread& spread)
{
    const model::Fleet& fleet = *report.fleet;
    const model::FleetMetric& metric = fleet.metrics[spread.metric];
    const std::vector<HostPlace> hosts = places(report, spread);
    const std::size_t step = hosts.size() / most_marks + 1;
    const std::string prefix = fleet.scenario + "/";
    const std::string of = metric.case_id.starts_with(prefix) ? metric.case_id.substr(prefix.size()) : metric.case_id;
    const std::string title = inert_text(fmt::format("{}: {}", of, measure::spoken(metric.name)));
    Json spec = json_of(fleet_spec);
    Json& values = spec["data"]["values"];
    values.push_back(
        {{"is", "half"}, {"x", chart_number(spread.judgement.low)}, {"end", chart_number(spread.judgement.high)}});
    Table table{.title = title, .note = "the outliers, and the hosts drawn"};
    table.columns = {{.title = "host", .is_key = true}, {.title = "median", .is_number = true}, {.title = "evidence"}};
    std::vector<std::string> named;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        const measure::Outlier* outlier = outlier_at(report, spread.metric, hosts[i].host);
        if (outlier == nullptr && i % step != 0 && i + 1 != hosts.size()) {
            continue;
        }
        const std::string& name = fleet.hosts[hosts[i].host].name;
        const std::string why = outlier == nullptr ? "" : measure::outlier_text(fleet, *outlier);
        values.push_back({{"is", outlier == nullptr ? "host" : "outlier"},
                          {"x", chart_number(hosts[i].value)},
                          {"name", inert_text(name)},
                          {"value", value_text(hosts[i].value, metric.unit)},
                          {"why", inert_text(why)}});
        table.rows.push_back({{.text = name},
                              value_cell(hosts[i].value, metric.unit),
                              {.text = why, .tone = outlier == nullptr ? Tone::plain : Tone::bad}});
        if (outlier != nullptr) {
            named.push_back(name);
        }
    }
    spec["encoding"]["x"]["title"] = inert_text(measure::spoken(metric.name));
    spec["encoding"]["x"]["axis"] = {{"labelExpr", axis_label(metric.unit)}, {"tickCount", 6}};
    const std::string about =
        fmt::format("{}: median {}, half of them between {} and {}{}. {}", plural(spread.judgement.hosts, "host"),
                    value_text(spread.judgement.median, metric.unit), value_text(spread.judgement.low, metric.unit),
                    value_text(spread.judgement.high, metric.unit), " (the band)",
                    named.empty() ? "No outlier."
                                  : fmt::format("{}: {}.", plural(named.size(), "outlier"), fmt::join(named, ", ")));
    return {.title = title,
            .about = inert_text(about),
            .spoken = inert_text(about),
            .spec = std::move(spec),
            .data = {std::move(table)},
            .long_data = true};
}

}  // namespace memsweep::reporters
