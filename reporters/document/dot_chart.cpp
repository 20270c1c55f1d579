#include "reporters/document/dot_chart.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "reporters/text/display_text.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/text/json_parse.hpp"

namespace memsweep::reporters {
namespace {

constexpr std::string_view dot_spec = R"json({
"width": 640, "height": {"step": 24},
"usermeta": {"room": 330, "names_above": true},
"data": {"values": []},
"encoding": {
  "y": {"field": "row", "type": "nominal", "title": null, "sort": null, "axis": {"labelLimit": 260, "grid": true}},
  "tooltip": [{"field": "name", "type": "nominal"}, {"field": "value", "type": "nominal"},
    {"field": "interval", "type": "nominal", "title": "95 % interval"}]},
"layer": [
  {"mark": {"type": "rule", "strokeWidth": 2, "style": "answer"},
   "encoding": {"x": {"field": "low", "type": "quantitative"}, "x2": {"field": "high"}}},
  {"mark": {"type": "point", "filled": true, "size": 80, "opacity": 1, "style": "answer"},
   "encoding": {"x": {"field": "x", "type": "quantitative", "scale": {"nice": false}}}},
  {"mark": {"type": "text", "style": "value", "align": {"expr": "datum.is_right ? 'right' : 'left'"},
     "dx": {"expr": "datum.is_right ? 5 : -5"}, "dy": -10},
   "encoding": {"x": {"field": "x", "type": "quantitative"}, "text": {"field": "value", "type": "nominal"}}}
]})json";

bool is_in_right_half(const DotPicture& picture, double value)
{
    return picture.is_log ? value * value > picture.from * picture.to : 2 * value > picture.from + picture.to;
}

// The line and, in a row of its own above the plot, its name.
void add_line(const DotPicture& picture, std::size_t number, Json& layers)
{
    const PictureLine& line = picture.lines[number];
    const bool is_right = is_in_right_half(picture, line.at);
    const Json data{{"values", Json::array({{{"x", chart_number(line.at)}, {"name", line.name}}})}};
    const Json x{{"field", "x"}, {"type", "quantitative"}};
    Json rule{{"type", "rule"}, {"style", "reference"}};
    if (!line.is_limit) {
        rule["strokeDash"] = Json::array({4, 3});
    }
    layers.push_back(
        {{"data", data}, {"mark", std::move(rule)}, {"encoding", {{"x", x}, {"y", nullptr}, {"tooltip", nullptr}}}});
    if (!line.name.empty()) {
        constexpr int row = 14;
        layers.push_back({{"data", data},
                          {"mark",
                           {{"type", "text"},
                            {"style", "value"},
                            {"align", is_right ? "right" : "left"},
                            {"baseline", "bottom"},
                            {"dy", -8 - row * static_cast<int>(number)}}},
                          {"encoding",
                           {{"x", x},
                            {"y", {{"value", 0}}},
                            {"text", {{"field", "name"}, {"type", "nominal"}}},
                            {"tooltip", nullptr}}}});
    }
}

// The dots that have an objection once more, in the colour of what is bad.
void colour_objections(const std::vector<Dot>& dots, Json& layers)
{
    if (std::ranges::all_of(dots, [](const Dot& dot) { return dot.objection.empty(); })) {
        return;
    }
    for (const std::size_t of : {0U, 1U}) {
        Json layer = layers.elements()[of];
        layer["transform"] = Json::array({{{"filter", "datum.is_bad"}}});
        layer["mark"]["style"] = "bad";
        layers.push_back(std::move(layer));
    }
}

// The ends of an axis over these values.
void set_ends(DotPicture& picture, double least, double most)
{
    constexpr double most_linear = 30;  // from the least to the largest; beyond it the axis is logarithmic
    picture.is_log = least > 0 && most > most_linear * least;
    picture.from = picture.is_log ? least / 1.2 : 0;
    picture.to = most > 0 ? most * (picture.is_log ? 1.2 : 1.02) : 1;
}

Json axis_of(const DotPicture& picture, double least, double most)
{
    return picture.is_log ? log_axis(picture.unit, least, most).axis : axis_from_zero(picture.unit, most);
}

Json scale_of(const DotPicture& picture)
{
    return picture.is_log ? Json{{"type", "log"}, {"nice", false}, {"padding", 12}}
                          : Json{{"nice", false}, {"domain", {0, chart_number(picture.to)}}};
}

}  // namespace

Chart dot_chart(const DotAxis& axis, const std::vector<Dot>& dots)
{
    const bool have_intervals = std::ranges::any_of(dots, [](const Dot& dot) { return dot.interval.has_value(); });
    Table table{.title = axis.quantity, .columns = {Column::key(axis.alternative), Column::number(axis.value)}};
    if (have_intervals) {
        table.columns.push_back(Column::number("95 % interval"));
    }
    DotPicture picture{.quantity = axis.quantity, .unit = axis.unit, .lines = axis.lines};
    double least = INFINITY;
    double most = 0;
    const auto take = [&](double low, double high) {
        least = std::min(least, low);
        most = std::max(most, high);
    };
    std::ranges::for_each(axis.lines, [&](const PictureLine& line) { take(line.at, line.at); });
    std::vector<std::string> names;
    for (const Dot& dot : dots) {
        const double low = dot.interval ? (*dot.interval)[0] : dot.value;
        const double high = dot.interval ? (*dot.interval)[1] : dot.value;
        take(std::min(dot.value, low), std::max(dot.value, high));
        names.push_back(dot.name);
        const std::string text = dot.text.empty() ? value_text(dot.value, axis.unit) : dot.text;
        picture.rows.push_back(
            {dot.name, dot.value, low, high, text + dot.objection, dot.objection.empty() ? Tone::plain : Tone::bad});
        table.rows.push_back({{.text = dot.name}, {text, exact_text(dot.value, axis.unit)}});
        if (have_intervals) {
            table.rows.back().push_back({.text = interval_text(dot.interval, axis.unit)});
        }
    }
    set_ends(picture, least, most);
    Json spec = json_of(dot_spec);
    constexpr int widest_name = 38;  // in letters: what the axis has room for
    const std::vector<std::string> rows = elided_apart(names, widest_name);
    for (std::size_t i = 0; i < dots.size(); ++i) {
        const DotPicture::Row& row = picture.rows[i];
        Json record{{"row", rows[i]},
                    {"name", row.name},
                    {"x", chart_number(row.value)},
                    {"low", chart_number(row.low)},
                    {"high", chart_number(row.high)},
                    {"value", row.text},
                    {"interval", interval_text(dots[i].interval, axis.unit)},
                    {"is_right", is_in_right_half(picture, row.value)}};
        if (row.tone == Tone::bad) {
            record["is_bad"] = true;
        }
        spec["data"]["values"].push_back(std::move(record));
    }
    spec["encoding"]["tooltip"][0]["title"] = axis.alternative;
    spec["encoding"]["tooltip"][1]["title"] = axis.value;
    Json& x = spec["layer"][1]["encoding"]["x"];
    x["title"] = axis.quantity + (picture.is_log ? " (logarithmic)" : "");
    x["axis"] = axis_of(picture, least, most);
    x["scale"] = scale_of(picture);
    colour_objections(dots, spec["layer"]);
    for (std::size_t number = 0; number < axis.lines.size(); ++number) {
        add_line(picture, number, spec["layer"]);
    }
    const auto [lowest, highest] = std::ranges::minmax_element(dots, {}, &Dot::value);
    return {.title = fmt::format("{} by {}", capitalised(axis.quantity), axis.alternative),
            .about = axis.about + (picture.is_log ? "" : " The axis begins at 0."),
            .spoken = inert_text(
                fmt::format("Dots: {} of {}, from {} ({}) to {}.", axis.quantity, plural(dots.size(), axis.alternative),
                            value_text(lowest->value, axis.unit), lowest->name, value_text(highest->value, axis.unit))),
            .spec = std::move(spec),
            .data = {std::move(table)},
            .picture = std::move(picture)};
}

}  // namespace memsweep::reporters
