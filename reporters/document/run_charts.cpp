#include "reporters/document/run_charts.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/measure/format.hpp"
#include "reporters/document/replay_report.hpp"
#include "reporters/document/run_tables.hpp"
#include "reporters/document/sweep_chart.hpp"
#include "reporters/text/display_text.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/text/json_parse.hpp"

namespace memsweep::reporters {
namespace {

// Symlog, since most phases have no faults at all and a logarithm has no place for them.
constexpr std::string_view fault_spec = R"json({
"data": {"values": []},
"facet": {"row": {"field": "phase", "type": "nominal", "title": null, "header": {
  "labelOrient": "top", "labelAnchor": "start", "labelAngle": 0, "labelLimit": 600, "labelPadding": 0}}},
"spacing": 20,
"usermeta": {"room": 150},
"spec": {"width": 640, "height": {"step": 19},
  "encoding": {
    "x": {"field": "faults", "type": "quantitative", "title": "page faults (symmetric logarithm)",
      "scale": {"type": "symlog", "constant": 1, "nice": false}, "axis": {"format": ",d"}},
    "y": {"field": "case", "type": "nominal", "title": null, "axis": {"labelLimit": 150, "grid": true}},
    "tooltip": [{"field": "phase", "title": "phase"}, {"field": "name", "title": "case"},
      {"field": "minor", "type": "nominal", "title": "minor faults"},
      {"field": "major", "type": "nominal", "title": "major faults"}]},
  "layer": [
    {"mark": {"type": "point", "filled": true, "size": 70, "opacity": 1},
     "encoding": {"color": {"field": "case", "type": "nominal", "legend": null},
       "shape": {"field": "case", "type": "nominal", "legend": null}}},
    {"mark": {"type": "text", "style": "value", "align": "left", "dx": 9},
     "encoding": {"text": {"field": "minor", "type": "nominal"}}},
    {"transform": [{"filter": "datum.bad"}],
     "mark": {"type": "text", "style": "bad", "align": "left", "dx": 9, "dy": -11},
     "encoding": {"text": {"field": "bad", "type": "nominal"}}}
  ]}})json";

Json decades(double largest)
{
    Json values = Json::array({0});
    for (double decade = 1; decade < largest * 10; decade *= 10) {
        values.push_back(decade);
    }
    return values;
}

Json fault_record(const std::string& row, const std::string& name, const std::string& phase, double minor, double major)
{
    Json values{{"phase", inert_text(phase)},
                {"case", row},
                {"name", name},
                {"faults", chart_number(minor)},
                {"minor", value_text(minor, model::Unit::one)},
                {"major", value_text(major, model::Unit::one)}};
    if (major > 0) {
        values["bad"] = fmt::format("and {} major", value_text(major, model::Unit::one));
    }
    return values;
}

// What the axis has room for of the cases' names.
std::vector<std::string> labels_of(const ChartGroup& group)
{
    constexpr int widest = 22;  // in letters
    std::vector<std::string> labels;
    std::ranges::transform(group.cases, std::back_inserter(labels), &ChartCase::label);
    return elided_apart(labels, widest);
}

struct Faults {
    std::vector<std::string> phases;   // with any
    std::vector<std::string> without;  // the others
    Json records = Json::array();
    double largest{};
    bool any_major{};
    std::string most;  // in words
    Table table{.title = "Page faults by phase",
                .note = "medians",
                .columns = {Column::key("phase"), Column::key("case"), Column::number("minor faults"),
                            Column::number("major faults")}};
};

void add_phase(const ChartGroup& group, const std::string& phase, Faults& faults)
{
    Json records = Json::array();
    bool any = false;
    const std::vector<std::string> labels = labels_of(group);
    for (std::size_t i = 0; i < group.cases.size(); ++i) {
        const ChartCase& one = group.cases[i];
        const auto minor = phase_median(*one.report, phase, &model::Phase::minor_faults);
        const double major = phase_median(*one.report, phase, &model::Phase::major_faults).value_or(0);
        if (!minor) {
            continue;
        }
        records.push_back(fault_record(labels[i], one.label, phase, *minor, major));
        faults.table.rows.push_back({{.text = phase},
                                     {.text = one.label},
                                     value_cell(minor, model::Unit::one),
                                     value_cell(major, model::Unit::one)});
        any = any || *minor > 0 || major > 0;
        faults.any_major = faults.any_major || major > 0;
        if (*minor > faults.largest) {
            faults.largest = *minor;
            faults.most = fmt::format("{} of {} in {}", value_text(*minor, model::Unit::one), one.label, phase);
        }
    }
    (any ? faults.phases : faults.without).push_back(inert_text(phase));
    if (any) {
        std::ranges::move(records.elements(), std::back_inserter(faults.records.elements()));
    }
}

Faults faults_of(const ChartGroup& group)
{
    Cases cases;
    std::ranges::transform(group.cases, std::back_inserter(cases), &ChartCase::report);
    Faults faults;
    for (const std::string& phase : names_in_order(cases, &model::CaseReport::phases)) {
        add_phase(group, phase, faults);
    }
    return faults;
}

Json spec_of(const ChartGroup& group, const Faults& faults)
{
    Json spec = json_of(fault_spec);
    spec["data"]["values"] = faults.records;
    spec["facet"]["row"]["sort"] = faults.phases;
    Json& encoding = spec["spec"]["encoding"];
    encoding["x"]["axis"]["values"] = decades(faults.largest);
    encoding["x"]["scale"]["domain"] = {0, chart_number(std::max(faults.largest, 1.0) * 3)};
    encoding["y"]["scale"] = {{"domain", labels_of(group)}};
    for (const char* channel : {"color", "shape"}) {
        spec["spec"]["layer"][0]["encoding"][channel]["scale"] = {{"domain", labels_of(group)}};
    }
    return spec;
}

// Empty when no phase of the group had a fault.
std::optional<Chart> fault_chart(const ChartGroup& group)
{
    const Faults faults = faults_of(group);
    if (faults.phases.empty()) {
        return std::nullopt;
    }
    const std::string_view major =
        faults.any_major ? "Major faults, served with I/O, stand above them in words." : "There were no major faults.";
    const std::string none =
        faults.without.empty() ? std::string{} : fmt::format(" No page faults in {}.", listed(faults.without));
    return Chart{.title = "Page faults by phase",
                 .about = inert_text(fmt::format(
                     "Medians of minor faults; each mark of the axis is ten times the last. {}{}", major, none)),
                 .spoken = inert_text(
                     fmt::format("Dots: page faults of each phase and case; the most are {}.{}", faults.most, none)),
                 .spec = spec_of(group, faults),
                 .data = {faults.table}};
}

// What comes from sample to sample, a strip for each kind, each on its own axis.
constexpr std::string_view flow_spec = R"json({
"data": {"values": []},
"facet": {"row": {"field": "strip", "type": "nominal", "title": null, "header": {
  "labelOrient": "top", "labelAnchor": "start", "labelAngle": 0, "labelLimit": 1000, "labelPadding": 0}}},
"spacing": 20,
"resolve": {"scale": {"y": "independent"}},
"spec": {"width": 640, "height": 70,
  "mark": {"type": "area", "interpolate": "step-before", "opacity": 0.8, "clip": true},
  "encoding": {
    "x": {"field": "t", "type": "quantitative", "scale": {"nice": false}, "axis": {"tickCount": 8}},
    "y": {"field": "v", "type": "quantitative", "title": null, "axis": {"tickCount": 3}},
    "tooltip": [{"field": "at", "title": "up to"}, {"field": "text", "title": "since the sample before"}]}}
})json";

constexpr std::array<std::string_view, 3> flow_names{"minor_faults", "major_faults", "memory_stall"};

std::vector<const model::Series*> flows_of(const ChartGroup& group)
{
    std::vector<const model::Series*> flows;
    for (const ChartCase& one : group.cases) {
        for (const model::Series& series : one.report->series) {
            if (std::ranges::find(flow_names, series.name) != flow_names.end() && !series.t.empty()) {
                flows.push_back(&series);
            }
        }
    }
    return flows;
}

// "minor faults: 17,355 in all", "memory stall (ms): 1.20 ms in all"
std::string flow_title(const model::Series& flow, const ChartUnit& unit)
{
    const std::string in_unit = unit.name.empty() ? std::string{} : fmt::format(" ({})", unit.name);
    const double sum = std::accumulate(flow.v.begin(), flow.v.end(), 0.0);
    return inert_text(fmt::format("{}{}: {} in all", measure::spoken(flow.name), in_unit, value_text(sum, flow.unit)));
}

void add_flow(const model::Series& flow, const ChartUnit& unit, const ChartUnit& time, Json& values)
{
    const std::string strip = flow_title(flow, unit);
    for (std::size_t i = 0; i < flow.t.size(); ++i) {
        values.push_back({{"strip", strip},
                          {"t", chart_number(flow.t[i] / time.factor)},
                          {"v", chart_number(flow.v[i] / unit.factor)},
                          {"at", value_text(flow.t[i], model::Unit::seconds)},
                          {"text", value_text(flow.v[i], flow.unit)}});
    }
}

Table flow_table(const model::Series& flow)
{
    const std::string name = measure::spoken(flow.name);
    Table table{.title = name, .columns = {Column::number_key("up to"), Column::number(name)}};
    for (std::size_t i = 0; i < flow.t.size(); ++i) {
        table.rows.push_back({value_cell(flow.t[i], model::Unit::seconds), value_cell(flow.v[i], flow.unit)});
    }
    return table;
}

// Page faults and stalls of a program that was watched from outside; empty where there were none.
std::optional<Chart> flow_chart(const ChartGroup& group)
{
    const std::vector<const model::Series*> flows = flows_of(group);
    double end = 0;
    std::ranges::for_each(flows, [&](const auto* flow) { end = std::max(end, flow->t.back()); });
    const ChartUnit time = chart_unit(model::Unit::seconds, end);
    Chart chart{.title = "Page faults and memory stalls over time", .long_data = true};
    Json values = Json::array();
    std::vector<std::string> strips;
    std::vector<std::string> without;
    for (const model::Series* flow : flows) {
        const double most = *std::ranges::max_element(flow->v);
        if (most == 0) {
            without.push_back(measure::spoken(flow->name));
            continue;
        }
        const ChartUnit unit = chart_unit(flow->unit, most);
        add_flow(*flow, unit, time, values);
        strips.push_back(flow_title(*flow, unit));
        chart.data.push_back(flow_table(*flow));
    }
    if (strips.empty()) {
        return std::nullopt;
    }
    chart.spec = json_of(flow_spec);
    chart.spec["data"]["values"] = std::move(values);
    chart.spec["facet"]["row"]["sort"] = strips;
    chart.spec["spec"]["encoding"]["x"]["title"] = fmt::format("time ({})", time.name);
    chart.spec["spec"]["encoding"]["x"]["scale"]["domain"] = {0, chart_number(end / time.factor)};
    chart.about = "What came since the sample before, each kind on its own axis." +
                  (without.empty() ? std::string{} : fmt::format(" None at all: {}.", listed(without)));
    chart.spoken = fmt::format("Areas. {}.", listed(strips, ". "));
    return chart;
}

}  // namespace

ChartSection memory_charts(const ChartGroup& group, const CurveDetail& detail)
{
    ChartSection section{inert_text(group.title), {}};
    for (std::optional<Chart> chart : {curve_chart(group, detail), flow_chart(group), fault_chart(group)}) {
        if (chart) {
            section.charts.push_back(std::move(*chart));
        }
    }
    return section;
}

std::vector<ChartSection> sweep_sections(const Cases& cases)
{
    std::vector<ChartSection> sections{{{}, sweep_charts(cases)}};
    if (auto replays = replay_chart(cases)) {
        sections.front().charts.insert(sections.front().charts.begin(), *std::move(replays));
    }
    return sections;
}

std::vector<ChartSection> memory_sections(const Cases& cases, const CurveDetail& detail)
{
    constexpr std::size_t most_strips = 6;
    Cases measured;
    std::ranges::copy_if(cases, std::back_inserter(measured),
                         [](const auto* one) { return !one->series.empty() || !one->phases.empty(); });
    std::vector<ChartSection> sections;
    for (const ChartGroup& group : chart_groups(measured, most_strips)) {
        sections.push_back(memory_charts(group, detail));
    }
    std::erase_if(sections, [](const ChartSection& section) { return section.charts.empty(); });
    return sections;
}

std::vector<ChartSection> chart_sections(const Cases& cases, const CurveDetail& detail)
{
    std::vector<ChartSection> sections = sweep_sections(cases);
    std::erase_if(sections, [](const ChartSection& section) { return section.charts.empty(); });
    std::ranges::move(memory_sections(cases, detail), std::back_inserter(sections));
    return sections;
}

}  // namespace memsweep::reporters
