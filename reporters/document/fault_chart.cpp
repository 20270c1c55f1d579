#include "reporters/document/fault_chart.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reporters/document/chart_numbers.hpp"
#include "reporters/document/phase_medians.hpp"
#include "reporters/document/value_text.hpp"
#include "reporters/text/json_parse.hpp"
#include "reporters/text/utf8.hpp"

namespace memsweep::reporters {
namespace {

// Symlog, since most phases have no faults at all and a logarithm has no place for them.
constexpr std::string_view fault_spec = R"json({
"$schema": "https://vega.github.io/schema/vega-lite/v6.json",
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
    "tooltip": [{"field": "phase", "title": "phase"}, {"field": "case", "title": "case"},
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

Json axis_values(double largest)
{
    Json values = Json::array({0});
    for (double decade = 1; decade < largest * 10; decade *= 10) {
        values.push_back(decade);
    }
    return values;
}

Json record(const ChartCase& one, const std::string& phase, double minor, double major)
{
    Json values{{"phase", inert_text(phase)},
                {"case", one.label},
                {"faults", chart_number(minor)},
                {"minor", value_text(minor, model::Unit::one)},
                {"major", value_text(major, model::Unit::one)}};
    if (major > 0) {
        values["bad"] = fmt::format("and {} major", value_text(major, model::Unit::one));
    }
    return values;
}

std::vector<std::string> inert(std::vector<std::string> names)
{
    std::ranges::transform(names, names.begin(), [](const std::string& name) { return inert_text(name); });
    return names;
}

Cases cases_of(const ChartGroup& group)
{
    Cases cases;
    std::ranges::transform(group.cases, std::back_inserter(cases), &ChartCase::report);
    return cases;
}

std::vector<std::string> labels_of(const ChartGroup& group)
{
    std::vector<std::string> labels;
    std::ranges::transform(group.cases, std::back_inserter(labels), &ChartCase::label);
    return labels;
}

struct Faults {
    std::vector<std::string> phases;   // with any
    std::vector<std::string> without;  // the others
    Json records = Json::array();
    double largest{};
    bool any_major{};
    std::string most;  // in words
};

void add_phase(const ChartGroup& group, const std::string& phase, Faults& faults)
{
    Json records = Json::array();
    bool any = false;
    for (const ChartCase& one : group.cases) {
        const auto minor = phase_median(*one.report, phase, &model::Phase::minor_faults);
        const double major = phase_median(*one.report, phase, &model::Phase::major_faults).value_or(0);
        if (!minor) {
            continue;
        }
        records.push_back(record(one, phase, *minor, major));
        any = any || *minor > 0 || major > 0;
        faults.any_major = faults.any_major || major > 0;
        if (*minor > faults.largest) {
            faults.largest = *minor;
            faults.most = fmt::format("{} of {} in {}", value_text(*minor, model::Unit::one), one.label, phase);
        }
    }
    (any ? faults.phases : faults.without).push_back(phase);
    if (any) {
        std::ranges::move(records.elements(), std::back_inserter(faults.records.elements()));
    }
}

Faults faults_of(const ChartGroup& group, const std::vector<std::string>& phases)
{
    Faults faults;
    std::ranges::for_each(phases, [&](const std::string& phase) { add_phase(group, phase, faults); });
    return faults;
}

Json spec_of(const ChartGroup& group, const Faults& faults)
{
    Json spec = json_of(fault_spec);
    spec["data"]["values"] = faults.records;
    spec["facet"]["row"]["sort"] = inert(faults.phases);
    Json& encoding = spec["spec"]["encoding"];
    encoding["x"]["axis"]["values"] = axis_values(faults.largest);
    encoding["x"]["scale"]["domain"] = {0, chart_number(std::max(faults.largest, 1.0) * 3)};
    encoding["y"]["scale"] = {{"domain", labels_of(group)}};
    for (const char* channel : {"color", "shape"}) {
        spec["spec"]["layer"][0]["encoding"][channel]["scale"] = {{"domain", labels_of(group)}};
    }
    return spec;
}

Table data_table(const ChartGroup& group, const std::vector<std::string>& phases)
{
    Table table{.title = "Page faults by phase", .note = "medians"};
    table.columns = {{.title = "phase", .is_key = true},
                     {.title = "case", .is_key = true},
                     {.title = "minor faults", .is_number = true},
                     {.title = "major faults", .is_number = true}};
    for (const std::string& phase : phases) {
        for (const ChartCase& one : group.cases) {
            if (const auto minor = phase_median(*one.report, phase, &model::Phase::minor_faults)) {
                const auto major = phase_median(*one.report, phase, &model::Phase::major_faults);
                table.rows.push_back({{.text = phase},
                                      {.text = one.label},
                                      value_cell(minor, model::Unit::one),
                                      value_cell(major, model::Unit::one)});
            }
        }
    }
    return table;
}

}  // namespace

std::optional<Chart> fault_chart(const ChartGroup& group)
{
    const std::vector<std::string> all = names_in_order(cases_of(group), &model::CaseReport::phases);
    const Faults faults = faults_of(group, all);
    if (faults.phases.empty()) {
        return std::nullopt;
    }
    const std::string_view major =
        faults.any_major ? "Major faults, served with I/O, stand above them in words." : "There were no major faults.";
    const std::string none =
        faults.without.empty() ? std::string{} : fmt::format(" No page faults in {}.", fmt::join(faults.without, ", "));
    return Chart{.title = "Page faults by phase",
                 .about = inert_text(fmt::format(
                     "Medians of minor faults; each mark of the axis is ten times the last. {}{}", major, none)),
                 .spoken = inert_text(
                     fmt::format("Dots: page faults of each phase and case; the most are {}.{}", faults.most, none)),
                 .spec = spec_of(group, faults),
                 .data = {data_table(group, all)}};
}

}  // namespace memsweep::reporters
