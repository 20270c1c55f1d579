#include "reporters/document/answer_chart.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/measure/format.hpp"
#include "core/model/metric_id.hpp"
#include "reporters/document/dot_chart.hpp"
#include "reporters/text/display_text.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/text/json_parse.hpp"

namespace memsweep::reporters {
namespace {

constexpr std::size_t most_answers = 40;
constexpr double most_linear = 30;  // from the least to the largest; beyond it colours are logarithmic

constexpr std::string_view heat_spec = R"json({
"width": 640, "height": {"step": 20},
"usermeta": {"room": 180, "is_map": true},
"data": {"values": []},
"encoding": {
  "x": {"field": "column", "type": "nominal", "sort": null, "axis": {"orient": "top", "labelAngle": -30, "labelLimit": 120}},
  "y": {"field": "row", "type": "nominal", "sort": null, "axis": {"labelLimit": 150}},
  "tooltip": [{"field": "row_name", "type": "nominal", "title": ""}, {"field": "column_name", "type": "nominal", "title": " "},
    {"field": "value", "type": "nominal", "title": "median"}]},
"layer": [
  {"mark": {"type": "rect", "style": "heat"},
   "encoding": {"fillOpacity": {"field": "v", "type": "quantitative", "scale": {"range": [0.04, 0.6]}, "legend": null}}}
]})json";

// The rows and columns of a map: a row for each value of the axis that has most, a column for each combination of the
// others.
struct HeatAxes {
    std::string rows;                     // the name of the axis
    std::vector<std::string> columns;     // the names of the others
    std::vector<std::string> row_values;  // in order of appearance
    std::vector<std::string> column_values;

    [[nodiscard]] std::string columns_name() const { return fmt::format("{}", fmt::join(columns, ", ")); }
};

std::string value_on_axis(const model::CaseReport& report, const std::string& axis)
{
    const auto param = std::ranges::find(report.params, axis, &model::Param::name);
    return param == report.params.end() ? std::string{} : inert_text(axis_value_text(*param));
}

std::string values_on_axes(const model::CaseReport& report, const std::vector<std::string>& axes)
{
    std::vector<std::string> values;
    std::ranges::transform(axes, std::back_inserter(values),
                           [&](const std::string& axis) { return value_on_axis(report, axis); });
    return fmt::format("{}", fmt::join(values, ", "));
}

void add_distinct(std::vector<std::string>& values, const std::string& value)
{
    if (std::ranges::find(values, value) == values.end()) {
        values.push_back(value);
    }
}

// Nothing unless the cases differ on two or three axes, few enough for a map, and no two cases share a place of it.
std::optional<HeatAxes> heat_axes(const Cases& cases)
{
    constexpr std::size_t most_axes = 3;
    constexpr std::size_t most_rows = 60;
    constexpr std::size_t most_columns = 60;
    constexpr std::size_t most_combinations = 12;
    struct Axis {
        std::string name;
        std::vector<std::string> values;
    };
    std::vector<Axis> axes;
    for (const model::CaseReport* one : cases) {
        for (const model::Param& param : one->params) {
            add_distinct(item_named(axes, param.name, &Axis::name).values, inert_text(axis_value_text(param)));
        }
    }
    std::erase_if(axes, [](const Axis& axis) { return axis.values.size() < 2; });
    if (axes.size() < 2 || axes.size() > most_axes) {
        return std::nullopt;
    }
    const auto longest = std::ranges::max_element(axes, {}, [](const Axis& axis) { return axis.values.size(); });
    HeatAxes map{.rows = longest->name, .columns = {}, .row_values = longest->values, .column_values = {}};
    for (const Axis& axis : axes) {
        if (axis.name != map.rows) {
            map.columns.push_back(axis.name);
        }
    }
    std::set<std::pair<std::string, std::string>> places;
    for (const model::CaseReport* one : cases) {
        if (!places.emplace(value_on_axis(*one, map.rows), values_on_axes(*one, map.columns)).second) {
            return std::nullopt;
        }
    }
    Cases by_column = cases;
    for (const Axis& axis : axes | std::views::reverse) {  // the first of the columns' axes varies least
        std::ranges::stable_sort(by_column, {}, [&](const model::CaseReport* one) {
            return axis.name == map.rows
                       ? 0
                       : std::ranges::find(axis.values, value_on_axis(*one, axis.name)) - axis.values.begin();
        });
    }
    for (const model::CaseReport* one : by_column) {
        add_distinct(map.column_values, values_on_axes(*one, map.columns));
    }
    const std::size_t most = map.columns.size() == 1 ? most_columns : most_combinations;
    return map.row_values.size() <= most_rows && map.column_values.size() <= most ? std::optional{std::move(map)}
                                                                                  : std::nullopt;
}

// The metric, if it has a median to show.
const model::Metric* told_metric(const model::CaseReport& report, std::string_view name)
{
    const model::Metric* const metric = model::find_metric(report, name);
    return metric != nullptr && metric->summary && std::isfinite(metric->summary->median) ? metric : nullptr;
}

// Of the metrics that a scenario has named, or else its time and its peak, those that at least two cases have. Beside a
// count or bytes that a scenario names alone stands the time of an operation.
std::vector<std::string> metrics_of(const Cases& cases, const std::vector<std::string>& headline)
{
    constexpr std::size_t most = 2;
    const auto is_told = [&](std::string_view name) {
        return std::ranges::count_if(
                   cases, [&](const model::CaseReport* one) { return told_metric(*one, name) != nullptr; }) >= 2;
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
    const bool is_count_alone =
        metrics.size() == 1 && std::ranges::any_of(cases, [&](const model::CaseReport* one) {
            const model::Metric* const metric = told_metric(*one, metrics.front());
            return metric != nullptr && (metric->unit == model::Unit::one || metric->unit == model::Unit::bytes);
        });
    if (is_count_alone && is_told(model::metrics::time_per_op)) {
        metrics.emplace(metrics.begin(), model::metrics::time_per_op);
    }
    if (metrics.empty()) {
        add_first_of({model::metrics::time_per_event, model::metrics::time_per_op, model::metrics::wall_time});
        add_first_of(
            {model::metrics::resident_peak, model::metrics::working_set_peak, model::metrics::live_bytes_peak});
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

std::optional<Chart> chart_of(const Cases& cases, const std::vector<std::string>& names, const std::string& name)
{
    DotAxis axis{.quantity = measure::spoken(name),
                 .alternative = "case",
                 .value = "median",
                 .about = "Dots are medians, lines their 95 % intervals where there are enough repetitions."};
    std::vector<Dot> dots;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (const model::Metric* const metric = told_metric(*cases[i], name)) {
            axis.unit = metric->unit;
            dots.push_back({names[i], metric->summary->median, metric->summary->ci95});
        }
    }
    return dots.empty() ? std::nullopt : std::optional{dot_chart(axis, dots)};
}

std::size_t place_in(const std::vector<std::string>& values, const std::string& value)
{
    return static_cast<std::size_t>(std::ranges::find(values, value) - values.begin());
}

// Where a value lies between the least and the most: 0..1.
double share_of(double value, double least, double most, bool is_log)
{
    if (most <= least) {
        return 1;
    }
    return is_log ? std::log(value / least) / std::log(most / least) : (value - least) / (most - least);
}

std::optional<Chart> heat_map(const Cases& cases, const HeatAxes& axes, const std::string& name)
{
    constexpr std::size_t most_columns_with_text = 8;
    constexpr int widest_row = 22;  // in letters: what the axes have room for
    constexpr int widest_column = 18;
    Json spec = json_of(heat_spec);
    const std::string spoken = measure::spoken(name);
    Table table{.title = spoken, .columns = {Column::key(axes.rows), Column::key(axes.columns_name())}};
    table.add_numbers({"median"});
    HeatPicture picture{.row_axis = inert_text(axes.rows),
                        .column_axis = inert_text(axes.columns_name()),
                        .rows = axes.row_values,
                        .columns = axes.column_values,
                        .has_texts = axes.column_values.size() <= most_columns_with_text};
    const std::vector<std::string> rows = elided_apart(axes.row_values, widest_row);
    const std::vector<std::string> columns = elided_apart(axes.column_values, widest_column);
    std::vector<double> medians;
    double least = INFINITY;
    double most = 0;
    model::Unit unit{};
    for (const model::CaseReport* one : cases) {
        const model::Metric* const metric = told_metric(*one, name);
        if (metric == nullptr) {
            continue;
        }
        const double median = metric->summary->median;
        unit = metric->unit;
        least = std::min(least, median);
        most = std::max(most, median);
        const std::string row = value_on_axis(*one, axes.rows);
        const std::string column = values_on_axes(*one, axes.columns);
        spec["data"]["values"].push_back({{"row", rows[place_in(axes.row_values, row)]},
                                          {"column", columns[place_in(axes.column_values, column)]},
                                          {"row_name", row},
                                          {"column_name", column},
                                          {"v", chart_number(median)},
                                          {"value", value_text(median, unit)}});
        table.rows.push_back({{.text = row}, {.text = column}, value_cell(median, unit)});
        medians.push_back(median);
        picture.cells.push_back({.row = place_in(axes.row_values, row),
                                 .column = place_in(axes.column_values, column),
                                 .text = value_text(median, unit)});
    }
    if (most <= 0) {
        return std::nullopt;
    }
    const bool is_log = least > 0 && most > most_linear * least;
    if (is_log) {
        spec["layer"][0]["encoding"]["fillOpacity"]["scale"]["type"] = "log";
    }
    for (std::size_t i = 0; i < medians.size(); ++i) {
        picture.cells[i].share = share_of(medians[i], least, most, is_log);
    }
    spec["encoding"]["x"]["title"] = axes.columns_name();
    spec["encoding"]["x"]["scale"] = {{"domain", columns}};
    spec["encoding"]["y"]["title"] = axes.rows;
    if (picture.has_texts) {
        spec["layer"].push_back({{"mark", {{"type", "text"}, {"style", "value"}}},
                                 {"encoding", {{"text", {{"field", "value"}, {"type", "nominal"}}}}}});
    }
    return Chart{
        .title = fmt::format("{} by {} and {}", capitalised(spoken), axes.rows, axes.columns_name()),
        .about = fmt::format("Medians; the stronger the colour, the more{}.", is_log ? ", on a logarithmic scale" : ""),
        .spoken = inert_text(
            fmt::format("A map of {}: from {} to {}.", spoken, value_text(least, unit), value_text(most, unit))),
        .spec = std::move(spec),
        .data = {std::move(table)},
        .picture = std::move(picture)};
}

}  // namespace

std::vector<ChartSection> answer_charts(const Cases& cases, const std::vector<std::string>& headline)
{
    ChartSection section;
    const std::optional<HeatAxes> axes = cases.size() > most_answers ? heat_axes(cases) : std::nullopt;
    if (cases.size() < 2 || (cases.size() > most_answers && !axes)) {
        return {};
    }
    const std::vector<std::string> names = axes ? std::vector<std::string>{} : row_names(cases);
    for (const std::string& metric : metrics_of(cases, headline)) {
        if (auto chart = axes ? heat_map(cases, *axes, metric) : chart_of(cases, names, metric)) {
            section.charts.push_back(*std::move(chart));
        }
    }
    return section.charts.empty() ? std::vector<ChartSection>{} : std::vector{std::move(section)};
}

}  // namespace memsweep::reporters
