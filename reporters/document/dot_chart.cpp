#include "reporters/document/dot_chart.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "reporters/text/escaping.hpp"
#include "reporters/text/json_parse.hpp"

namespace memsweep::reporters {
namespace {

constexpr std::string_view dot_spec = R"json({
"width": 640, "height": {"step": 24},
"usermeta": {"room": 330, "names_above": true},
"data": {"values": []},
"encoding": {
  "y": {"field": "row", "type": "nominal", "title": null, "sort": null, "axis": {"labelLimit": 250, "grid": true}},
  "tooltip": [{"field": "row", "type": "nominal"}, {"field": "value", "type": "nominal"},
    {"field": "interval", "type": "nominal", "title": "95 % interval"}]},
"layer": [
  {"mark": {"type": "rule", "strokeWidth": 2, "style": "answer"},
   "encoding": {"x": {"field": "low", "type": "quantitative"}, "x2": {"field": "high"}}},
  {"mark": {"type": "point", "filled": true, "size": 80, "opacity": 1, "style": "answer"},
   "encoding": {"x": {"field": "x", "type": "quantitative", "scale": {"nice": false}}}},
  {"mark": {"type": "text", "style": "value", "align": "left", "dx": 9},
   "encoding": {"x": {"field": "high", "type": "quantitative"}, "text": {"field": "value", "type": "nominal"}}}
]})json";

Json reference_line(double at)
{
    return {{"data", {{"values", Json::array({{{"x", chart_number(at)}}})}}},
            {"mark", {{"type", "rule"}, {"strokeDash", Json::array({4, 3})}, {"style", "reference"}}},
            {"encoding", {{"x", {{"field", "x"}, {"type", "quantitative"}}}, {"y", nullptr}, {"tooltip", nullptr}}}};
}

}  // namespace

Chart dot_chart(const DotAxis& axis, const std::vector<Dot>& dots)
{
    constexpr double most_linear = 30;  // from the least to the largest; beyond it the axis is logarithmic
    const bool have_intervals = std::ranges::any_of(dots, [](const Dot& dot) { return dot.interval.has_value(); });
    Table table{.title = axis.quantity, .columns = {Column::key(axis.alternative), Column::number(axis.value)}};
    if (have_intervals) {
        table.columns.push_back(Column::number("95 % interval"));
    }
    Json spec = json_of(dot_spec);
    DotPicture picture{.quantity = axis.quantity, .unit = axis.unit, .reference = axis.reference};
    double least = axis.reference.value_or(INFINITY);
    double most = axis.reference.value_or(0);
    for (const Dot& dot : dots) {
        const double low = dot.interval ? (*dot.interval)[0] : dot.value;
        const double high = dot.interval ? (*dot.interval)[1] : dot.value;
        least = std::min({least, dot.value, low});
        most = std::max({most, dot.value, high});
        const std::string interval = interval_text(dot.interval, axis.unit);
        spec["data"]["values"].push_back({{"row", dot.name},
                                          {"x", chart_number(dot.value)},
                                          {"low", chart_number(low)},
                                          {"high", chart_number(high)},
                                          {"value", value_text(dot.value, axis.unit)},
                                          {"interval", interval}});
        picture.rows.push_back({dot.name, dot.value, low, high, value_text(dot.value, axis.unit)});
        table.rows.push_back({{.text = dot.name}, value_cell(dot.value, axis.unit)});
        if (have_intervals) {
            table.rows.back().push_back({.text = interval});
        }
    }
    const bool is_log = least > 0 && most > most_linear * least;
    picture.is_log = is_log;
    picture.from = is_log ? least / 1.2 : 0;
    picture.to = most > 0 ? most * (is_log ? 1.2 : 1.02) : 1;
    spec["encoding"]["tooltip"][0]["title"] = axis.alternative;
    spec["encoding"]["tooltip"][1]["title"] = axis.value;
    Json& x = spec["layer"][1]["encoding"]["x"];
    x["title"] = axis.quantity + (is_log ? " (logarithmic)" : "");
    if (is_log) {
        x["axis"] = {{"labelExpr", axis_label(axis.unit)}, {"tickCount", 6}};
        x["scale"]["type"] = "log";
        x["scale"]["padding"] = 12;
    } else {
        x["axis"] = axis_from_zero(axis.unit, most);
        x["scale"]["domain"] = {0, chart_number(most > 0 ? most * 1.02 : 1)};
    }
    if (axis.reference) {
        spec["layer"].push_back(reference_line(*axis.reference));
    }
    const auto [lowest, highest] = std::ranges::minmax_element(dots, {}, &Dot::value);
    return {.title = fmt::format("{} by {}", capitalised(axis.quantity), axis.alternative),
            .about = axis.about + (is_log ? "" : " The axis begins at 0."),
            .spoken = inert_text(
                fmt::format("Dots: {} of {}, from {} ({}) to {}.", axis.quantity, plural(dots.size(), axis.alternative),
                            value_text(lowest->value, axis.unit), lowest->name, value_text(highest->value, axis.unit))),
            .spec = std::move(spec),
            .data = {std::move(table)},
            .picture = std::move(picture)};
}

}  // namespace memsweep::reporters
