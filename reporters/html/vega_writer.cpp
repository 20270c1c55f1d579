#include "reporters/html/vega_writer.hpp"

#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "reporters/document/charts.hpp"
#include "reporters/document/report_tables.hpp"
#include "reporters/html/chart_theme.hpp"
#include "reporters/text/utf8.hpp"

namespace memsweep::reporters {
namespace {

// Parameters live in one name space, however deep they are declared.
void number_params(Json& json, std::size_t number)
{
    const auto numbered = [&](Json& name) { name = fmt::format("{}_{}", *name.text(), number); };
    if (json.is_array()) {
        for (Json& element : json.elements()) {
            number_params(element, number);
        }
        return;
    }
    if (!json.is_object()) {
        return;
    }
    if (Json* param = json.find("param")) {
        numbered(*param);
    }
    if (Json* params = json.find("params")) {
        for (Json& param : params->elements()) {
            numbered(param["name"]);
        }
    }
    for (auto& [key, value] : json.members()) {
        if (key != "data") {
            number_params(value, number);
        }
    }
}

std::string title_of(const Chart& chart, const ScenarioCases& group, const ChartSection& section)
{
    return fmt::format("{}: {}{}{}", inert_text(chart.title), inert_text(group.scenario),
                       section.title.empty() ? "" : ", ", section.title);
}

}  // namespace

std::string to_vega(const model::RunReport& report)
{
    const CurveDetail detail = curve_detail(report);
    Json views = Json::array();
    for (const ScenarioCases& group : cases_by_scenario(report)) {
        for (ChartSection& section : chart_sections(group.cases, detail)) {
            for (Chart& chart : section.charts) {
                Json view{{"title", title_of(chart, group, section)}, {"description", chart.spoken}};
                chart.spec.erase("$schema");
                number_params(chart.spec, views.size());
                view.update(chart.spec);
                views.push_back(std::move(view));
            }
        }
    }
    const Json independent{{"color", "independent"}, {"shape", "independent"}, {"strokeDash", "independent"}};
    return pretty({{"$schema", "https://vega.github.io/schema/vega-lite/v6.json"},
                   {"description", inert_text("memsweep: " + report.run.scenario_name)},
                   {"config", plain_chart_theme()},
                   {"resolve", {{"scale", independent}, {"legend", independent}}},
                   {"vconcat", std::move(views)}}) +
           "\n";
}

}  // namespace memsweep::reporters
