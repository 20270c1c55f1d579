#include "reporters/vega_writer.hpp"

#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "reporters/chart_theme.hpp"
#include "reporters/charts.hpp"
#include "reporters/report_tables.hpp"
#include "reporters/utf8.hpp"

namespace memsweep::reporters {
namespace {

// Parameters live in one name space, however deep they are declared.
void number_params(Json& json, std::size_t number)
{
    if (!json.is_structured()) {
        return;
    }
    if (json.is_object() && json.contains("param")) {
        json["param"] = fmt::format("{}_{}", json["param"].get<std::string>(), number);
    }
    if (json.is_object() && json.contains("params")) {
        for (Json& param : json["params"]) {
            param["name"] = fmt::format("{}_{}", param["name"].get<std::string>(), number);
        }
    }
    for (const auto& item : json.items()) {
        if (item.key() != "data") {
            number_params(item.value(), number);
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
