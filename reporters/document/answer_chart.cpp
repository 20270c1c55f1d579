#include "reporters/document/run_charts.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/measure/format.hpp"
#include "core/model/metric_id.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/text/json_parse.hpp"

namespace memsweep::reporters {
namespace {

constexpr std::size_t most_answers = 40;
constexpr double most_linear = 30;  // from the least to the largest; beyond it the axis is logarithmic

constexpr std::string_view answer_spec = R"json({
"width": 640, "height": {"step": 24},
"usermeta": {"room": 330, "names_above": true},
"data": {"values": []},
"encoding": {
  "y": {"field": "row", "type": "nominal", "title": null, "sort": null, "axis": {"labelLimit": 250, "grid": true}},
  "tooltip": [{"field": "row", "type": "nominal", "title": "case"},
    {"field": "value", "type": "nominal", "title": "median"},
    {"field": "interval", "type": "nominal", "title": "95 % interval"}]},
"layer": [
  {"mark": {"type": "rule", "strokeWidth": 2, "style": "answer"},
   "encoding": {"x": {"field": "low", "type": "quantitative"}, "x2": {"field": "high"}}},
  {"mark": {"type": "point", "filled": true, "size": 80, "opacity": 1, "style": "answer"},
   "encoding": {"x": {"field": "x", "type": "quantitative", "scale": {"nice": false}, "axis": {"tickCount": 6}}}},
  {"mark": {"type": "text", "style": "value", "align": "left", "dx": 9},
   "encoding": {"x": {"field": "high", "type": "quantitative"}, "text": {"field": "value", "type": "nominal"}}}
]})json";

constexpr std::string_view heat_spec = R"json({
"width": 640, "height": {"step": 20},
"usermeta": {"room": 180},
"data": {"values": []},
"encoding": {
  "x": {"field": "column", "type": "nominal", "sort": null, "axis": {"orient": "top", "labelAngle": -30, "labelLimit": 120}},
  "y": {"field": "row", "type": "nominal", "sort": null, "axis": {"labelLimit": 150}},
  "tooltip": [{"field": "row", "type": "nominal", "title": ""}, {"field": "column", "type": "nominal", "title": " "},
    {"field": "value", "type": "nominal", "title": "median"}]},
"layer": [
  {"mark": {"type": "rect", "style": "heat"},
   "encoding": {"fillOpacity": {"field": "v", "type": "quantitative", "scale": {"range": [0.04, 0.6]}, "legend": null}}}
]})json";

// An axis on which cases differ, with its values in order of appearance.
struct HeatAxis {
    std::string name;
    std::vector<std::string> values;
};

std::string value_on_axis(const model::CaseReport& report, const std::string& axis)
{
    const auto param = std::ranges::find(report.params, axis, &model::Param::name);
    return param == report.params.end() ? std::string{} : inert_text(axis_value_text(*param));
}

// Empty unless the cases differ on two axes alone, and every pair of values has at most one case.
std::vector<HeatAxis> heat_axes(const Cases& cases)
{
    std::vector<HeatAxis> axes;
    for (const model::CaseReport* one : cases) {
        for (const model::Param& param : one->params) {
            HeatAxis& axis = item_named(axes, param.name, &HeatAxis::name);
            const std::string value = inert_text(axis_value_text(param));
            if (std::ranges::find(axis.values, value) == axis.values.end()) {
                axis.values.push_back(value);
            }
        }
    }
    std::erase_if(axes, [](const HeatAxis& axis) { return axis.values.size() < 2; });
    constexpr std::size_t most_values = 60;
    const bool is_map =
        axes.size() == 2 && axes[0].values.size() * axes[1].values.size() >= cases.size() &&
        std::ranges::all_of(axes, [](const HeatAxis& axis) { return axis.values.size() <= most_values; });
    if (!is_map) {
        return {};
    }
    std::ranges::sort(axes, {}, [](const HeatAxis& axis) { return axis.values.size(); });
    return axes;
}

// Of the metrics that a scenario has named, or else its time and its peak, those that at least two cases have.
std::vector<std::string> metrics_of(const Cases& cases, const std::vector<std::string>& headline)
{
    constexpr std::size_t most = 2;
    const auto is_told = [&](std::string_view name) {
        return std::ranges::count_if(cases, [&](const model::CaseReport* one) {
                   const model::Metric* const metric = model::find_metric(*one, name);
                   return metric != nullptr && metric->summary && std::isfinite(metric->summary->median);
               }) >= 2;
    };
    std::vector<std::string> metrics;
    const auto add_first_of = [&](std::initializer_list<std::string_view> names) {
        const auto* const found = std::ranges::find_if(names, is_told);
        if (found != names.end()) {
            metrics.emplace_back(*found);
        }
    };
    for (const std::string& name : headline) {
        if (metrics.size() < most && is_told(name)) {
            metrics.push_back(name);
        }
    }
    if (metrics.empty()) {
        add_first_of({model::metrics::time_per_op, model::metrics::wall_time});
        add_first_of({model::metrics::working_set_peak, model::metrics::live_bytes_peak});
    }
    return metrics;
}

std::vector<std::string> row_names(const Cases& cases)
{
    const CaseKeys keys{cases};
    std::vector<std::string> names;
    for (const model::CaseReport* one : cases) {
        const std::string name = keys.name(*one, ", ");
        names.push_back(inert_text(name.empty() ? short_id(one->id, one->scenario) : name));
    }
    make_distinct(names);
    return names;
}

Chart chart_of(const Cases& cases, const std::vector<std::string>& names, const std::string& name)
{
    const std::string spoken = measure::spoken(name);
    Table table{.title = spoken, .columns = {Column::key("case")}};
    table.add_numbers({"median", "95 % interval"});
    Json spec = json_of(answer_spec);
    double least = INFINITY;
    double most = 0;
    std::size_t rows = 0;
    model::Unit unit{};
    std::string_view lowest;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const model::Metric* const metric = model::find_metric(*cases[i], name);
        if (metric == nullptr || !metric->summary || !std::isfinite(metric->summary->median)) {
            continue;
        }
        const double median = metric->summary->median;
        const Interval ends = metric->summary->ci95;
        unit = metric->unit;
        lowest = median < least ? std::string_view{names[i]} : lowest;
        least = std::min({least, median, ends ? (*ends)[0] : median});
        most = std::max({most, median, ends ? (*ends)[1] : median});
        spec["data"]["values"].push_back({{"row", names[i]},
                                          {"x", chart_number(median)},
                                          {"low", chart_number(ends ? (*ends)[0] : median)},
                                          {"high", chart_number(ends ? (*ends)[1] : median)},
                                          {"value", value_text(median, unit)},
                                          {"interval", interval_text(ends, unit)}});
        table.rows.push_back({{.text = names[i]}, value_cell(median, unit), {.text = interval_text(ends, unit)}});
        ++rows;
    }
    const bool is_log = least > 0 && most > most_linear * least;
    Json& x = spec["layer"][1]["encoding"]["x"];
    x["title"] = spoken + (is_log ? " (logarithmic)" : "");
    x["axis"]["labelExpr"] = std::string{axis_label(unit)};
    if (is_log) {
        x["scale"]["type"] = "log";
        x["scale"]["padding"] = 12;
    } else {
        x["scale"]["domain"] = {0, chart_number(most > 0 ? most * 1.02 : 1)};
    }
    std::string title = spoken + " by case";
    title.front() =
        title.front() >= 'a' && title.front() <= 'z' ? static_cast<char>(title.front() - 'a' + 'A') : title.front();
    return {.title = std::move(title),
            .about = is_log ? "Dots are medians, lines their 95 % intervals where there are enough repetitions."
                            : "Dots are medians, lines their 95 % intervals where there are enough repetitions; the "
                              "axis begins at 0.",
            .spoken = inert_text(fmt::format("Dots: {} of {}, from {} ({}) to {}.", spoken, plural(rows, "case"),
                                             value_text(least, unit), lowest, value_text(most, unit))),
            .spec = std::move(spec),
            .data = {std::move(table)}};
}

// Columns are the axis with fewer values.
std::optional<Chart> heat_map(const Cases& cases, const std::vector<HeatAxis>& axes, const std::string& name)
{
    constexpr std::size_t most_columns_with_text = 8;
    Json spec = json_of(heat_spec);
    const std::string spoken = measure::spoken(name);
    Table table{.title = spoken, .columns = {Column::key(axes[1].name), Column::key(axes[0].name)}};
    table.add_numbers({"median"});
    double least = INFINITY;
    double most = 0;
    model::Unit unit{};
    for (const model::CaseReport* one : cases) {
        const model::Metric* const metric = model::find_metric(*one, name);
        if (metric == nullptr || !metric->summary || !std::isfinite(metric->summary->median)) {
            continue;
        }
        const double median = metric->summary->median;
        unit = metric->unit;
        least = std::min(least, median);
        most = std::max(most, median);
        const std::string row = value_on_axis(*one, axes[1].name);
        const std::string column = value_on_axis(*one, axes[0].name);
        spec["data"]["values"].push_back(
            {{"row", row}, {"column", column}, {"v", chart_number(median)}, {"value", value_text(median, unit)}});
        table.rows.push_back({{.text = row}, {.text = column}, value_cell(median, unit)});
    }
    if (most <= 0) {
        return std::nullopt;
    }
    const bool is_log = least > 0 && most > most_linear * least;
    if (is_log) {
        spec["layer"][0]["encoding"]["fillOpacity"]["scale"]["type"] = "log";
    }
    spec["encoding"]["x"]["title"] = axes[0].name;
    spec["encoding"]["y"]["title"] = axes[1].name;
    if (axes[0].values.size() <= most_columns_with_text) {
        spec["layer"].push_back({{"mark", {{"type", "text"}, {"style", "value"}}},
                                 {"encoding", {{"text", {{"field", "value"}, {"type", "nominal"}}}}}});
    }
    return Chart{
        .title = fmt::format("{} by {} and {}", spoken, axes[1].name, axes[0].name),
        .about = fmt::format("Medians; the stronger the colour, the more{}.", is_log ? ", on a logarithmic scale" : ""),
        .spoken = inert_text(
            fmt::format("A map of {}: from {} to {}.", spoken, value_text(least, unit), value_text(most, unit))),
        .spec = std::move(spec),
        .data = {std::move(table)}};
}

}  // namespace

std::vector<ChartSection> answer_charts(const Cases& cases, const std::vector<std::string>& headline)
{
    ChartSection section;
    const std::vector<HeatAxis> axes = cases.size() > most_answers ? heat_axes(cases) : std::vector<HeatAxis>{};
    if (cases.size() < 2 || (cases.size() > most_answers && axes.empty())) {
        return {};
    }
    const std::vector<std::string> names = axes.empty() ? row_names(cases) : std::vector<std::string>{};
    for (const std::string& metric : metrics_of(cases, headline)) {
        if (axes.empty()) {
            section.charts.push_back(chart_of(cases, names, metric));
        } else if (auto map = heat_map(cases, axes, metric)) {
            section.charts.push_back(*std::move(map));
        }
    }
    return section.charts.empty() ? std::vector<ChartSection>{} : std::vector{std::move(section)};
}

}  // namespace memsweep::reporters
