#include "reporters/document/sweep_chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/measure/cases.hpp"
#include "core/measure/format.hpp"
#include "reporters/document/run_tables.hpp"
#include "reporters/text/display_text.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/text/json_parse.hpp"

namespace memsweep::reporters {
namespace {

struct Place {
    double value{};
    bool is_size{};  // written with a unit
};

std::optional<Place> place_of(const model::Scalar& value)
{
    if (const auto* count = std::get_if<std::int64_t>(&value)) {
        return Place{static_cast<double>(*count), false};
    }
    if (const auto* number = std::get_if<double>(&value)) {
        return Place{*number, false};
    }
    if (const auto* text = std::get_if<std::string>(&value)) {
        if (const auto size = base::parse_size(*text)) {
            return Place{static_cast<double>(*size), true};
        }
    }
    return std::nullopt;
}

bool speaks_of_size(std::string_view name)
{
    return name.find("size") != std::string_view::npos || name.find("bytes") != std::string_view::npos;
}

struct Candidate {
    std::set<double> values;
    bool is_size{};
};

bool is_swept(const Candidate& candidate)
{
    return candidate.values.size() >= 3 && *candidate.values.begin() > 0 &&
           *candidate.values.rbegin() >= 4 * *candidate.values.begin();
}

// The numeric axis that a scenario sweeps.
struct SweepAxis {
    std::string name;
    model::Unit unit{};  // bytes, or a plain number
};

// One with at least three positive numbers that span a factor of four; of several one that speaks of a size.
std::optional<SweepAxis> sweep_axis(const Cases& cases)
{
    std::map<std::string, Candidate> candidates;
    for (const model::CaseReport* report : cases) {
        for (const model::Param& param : report->params) {
            if (const auto place = place_of(param.value)) {
                candidates[param.name].values.insert(place->value);
                candidates[param.name].is_size = candidates[param.name].is_size || place->is_size;
            }
        }
    }
    std::optional<SweepAxis> found;
    bool found_size = false;
    for (const auto& [name, candidate] : candidates) {
        const bool is_size = candidate.is_size || speaks_of_size(name);
        if (is_swept(candidate) && (!found || (is_size && !found_size))) {
            found = SweepAxis{name, is_size ? model::Unit::bytes : model::Unit::one};
            found_size = is_size;
        }
    }
    return found;
}

// A case's place on it; "4KiB" counts as the number it is. Empty when it has none.
std::optional<double> place_on(const SweepAxis& axis, const model::CaseReport& report)
{
    const auto param = std::ranges::find(report.params, axis.name, &model::Param::name);
    const auto place = param == report.params.end() ? std::nullopt : place_of(param->value);
    return place && place->value > 0 ? std::optional{place->value} : std::nullopt;
}

constexpr std::size_t max_lines = 8;
constexpr std::string_view sweep_spec = R"json({
"width": 640, "height": 300,
"data": {"values": []},
"encoding": {
  "x": {"field": "x", "type": "quantitative", "scale": {"type": "log", "nice": false, "padding": 8}, "axis": {}},
  "color": {"field": "line", "type": "nominal", "legend": {"title": null, "symbolOpacity": 1}}},
"layer": [
  {"mark": {"type": "area", "opacity": 0.2, "clip": true},
   "encoding": {"y": {"field": "low", "type": "quantitative", "scale": {"type": "log", "nice": false, "padding": 8}}, "y2": {"field": "high"}}},
  {"params": [{"name": "zoom", "bind": "scales",
     "select": {"type": "interval", "encodings": ["x"], "zoom": "wheel![event.ctrlKey]"}}],
   "mark": {"type": "line", "strokeWidth": 1.6, "clip": true},
   "encoding": {"y": {"field": "y", "type": "quantitative"}}},
  {"mark": {"type": "point", "filled": true, "size": 55, "opacity": 1, "clip": true},
   "encoding": {"y": {"field": "y", "type": "quantitative"},
     "shape": {"field": "line", "type": "nominal", "legend": {"title": null, "symbolOpacity": 1}},
     "tooltip": []}}
]})json";

struct Measured {
    double place{};
    std::size_t line{};
    const model::CaseReport* report{};
    const model::Metric* metric{};
};

const model::Metric* positive(const model::CaseReport& report, std::string_view name)
{
    const model::Metric* metric = summarised(report, name);
    return metric != nullptr && shown_value(*metric) > 0 ? metric : nullptr;
}

// What is drawn: a sampled figure, or the time of a case.
std::string_view metric_of(const Cases& cases)
{
    for (const model::ShownAt place : {model::ShownAt::figures, model::ShownAt::time}) {
        for (const model::MetricInfo* metric : model::shown_at({place})) {
            const bool is_drawn = metric->shown.at == model::ShownAt::time || metric->shown.is_sampled;
            if (is_drawn && std::ranges::any_of(cases, [&](const auto* one) { return positive(*one, metric->name); })) {
                return metric->name;
            }
        }
    }
    return {};
}

// What varies beside the axis: "refcount", or "mode=refcount, touch=page" of several.
std::vector<std::string> line_names(const Cases& cases, const std::string& axis)
{
    std::vector<std::string> names;
    for (const std::vector<std::string>& params : varying_params(cases, axis)) {
        names.push_back(params.size() == 1 ? params.front().substr(params.front().find('=') + 1) : listed(params));
    }
    return names;
}

struct Lines {
    std::vector<std::string> labels;
    std::vector<Measured> values;
};

Lines lines_of(const Cases& cases, const SweepAxis& axis, std::string_view metric_name)
{
    const std::vector<std::string> names = line_names(cases, axis.name);
    Lines lines;
    std::vector<std::string> distinct;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const auto place = place_on(axis, *cases[i]);
        const model::Metric* metric = positive(*cases[i], metric_name);
        if (!place || metric == nullptr) {
            continue;
        }
        auto line = std::ranges::find(distinct, names[i]);
        if (line == distinct.end()) {
            line = distinct.insert(distinct.end(), names[i]);
        }
        lines.values.push_back({*place, static_cast<std::size_t>(line - distinct.begin()), cases[i], metric});
    }
    lines.labels = distinct;
    if (distinct.size() == 1 && distinct.front().empty()) {
        lines.labels = {measure::spoken(std::string{metric_name})};
    }
    make_distinct(lines.labels);
    constexpr int widest_name = 38;  // in letters: what the legend has room for
    lines.labels = elided_apart(lines.labels, widest_name);
    std::ranges::stable_sort(lines.values, {}, [](const Measured& one) { return std::pair{one.line, one.place}; });
    return lines;
}

const char* shown_name(const model::Metric& metric)
{
    return is_shown_by_least(metric.name) ? "least sample" : "median";
}

Json sweep_record(const Measured& one, const std::string& label, const SweepAxis& axis)
{
    const double value = shown_value(*one.metric);
    const auto& interval = one.metric->summary->ci95;
    Json values{{"line", label},
                {"x", one.place},
                {"at", value_text(one.place, axis.unit)},
                {"y", chart_number(value)},
                {"value", value_text(value, one.metric->unit)}};
    if (interval && (*interval)[0] > 0) {
        values["low"] = chart_number((*interval)[0]);
        values["high"] = chart_number((*interval)[1]);
        values["interval"] = interval_text(interval, one.metric->unit);
    }
    return values;
}

// Every place that was measured, as far as there is room, but the first and the last in any case.
Json places_shown(const std::vector<Measured>& values)
{
    constexpr std::size_t max_labels = 9;
    std::set<double> distinct;
    std::ranges::transform(values, std::inserter(distinct, distinct.end()), &Measured::place);
    const std::vector<double> places(distinct.begin(), distinct.end());
    const std::size_t step = (places.size() + max_labels - 1) / max_labels;
    const std::size_t last = places.size() - 1;
    Json shown = Json::array({places.front()});
    for (std::size_t index = step; index <= last; ++index) {  // none closer to the first than the others to each other
        if ((last - index) % step == 0) {
            shown.push_back(places[index]);
        }
    }
    return shown;
}

// The least and the largest of what is drawn, intervals included.
std::pair<double, double> ends_of(const std::vector<Measured>& values)
{
    std::pair<double, double> ends{INFINITY, 0};
    for (const Measured& one : values) {
        const double value = shown_value(*one.metric);
        const std::array interval = one.metric->summary->ci95.value_or(std::array{value, value});
        ends.first = std::min({ends.first, value, interval[0] > 0 ? interval[0] : value});
        ends.second = std::max({ends.second, value, interval[1]});
    }
    return ends;
}

Json spec_of(const std::vector<Measured>& values, const Lines& lines, const SweepAxis& axis, const std::string& y_title)
{
    const model::Unit unit = values.front().metric->unit;
    const std::string x_title = inert_text(measure::spoken(axis.name));
    Json spec = json_of(sweep_spec);
    std::set<std::size_t> shown;
    for (const Measured& one : values) {
        spec["data"]["values"].push_back(sweep_record(one, lines.labels[one.line], axis));
        shown.insert(one.line);
    }
    Json domain = Json::array();
    std::ranges::for_each(shown, [&](std::size_t line) { domain.push_back(lines.labels[line]); });
    spec["encoding"]["x"]["title"] = x_title;
    spec["encoding"]["x"]["axis"] = {{"values", places_shown(values)}, {"labelExpr", axis_label(axis.unit)}};
    spec["encoding"]["color"]["scale"] = {{"domain", domain}};
    spec["layer"][2]["encoding"]["shape"]["scale"] = {{"domain", domain}};
    const auto [least, largest] = ends_of(values);
    const LogAxis scaled = log_axis(unit, least, largest);
    if (!scaled.domain.is_null()) {
        spec["layer"][0]["encoding"]["y"]["scale"]["domain"] = scaled.domain;
    }
    for (Json& layer : spec["layer"].elements()) {
        layer["encoding"]["y"]["title"] = y_title;
        layer["encoding"]["y"]["axis"] = scaled.axis;
    }
    Json tooltip = Json::array();
    for (const auto& [field, title] : {std::pair<std::string, std::string>{"at", x_title},
                                       {"line", "case"},
                                       {"value", fmt::format("{}, {}", y_title, shown_name(*values.front().metric))},
                                       {"interval", "95 % interval of the median"}}) {
        tooltip.push_back({{"field", field}, {"type", "nominal"}, {"title", title}});
    }
    spec["layer"][2]["encoding"]["tooltip"] = std::move(tooltip);
    return spec;
}

Table data_table(const std::vector<Measured>& values, const Lines& lines, const SweepAxis& axis,
                 const std::string& title)
{
    Table table{.title = title, .note = "interval: 95 % of the median, from 6 repetitions"};
    table.columns = {Column::key("case"), Column::number_key(axis.name)};
    table.add_numbers({shown_name(*values.front().metric), "interval from", "interval to"});
    for (const Measured& one : values) {
        const auto& interval = one.metric->summary->ci95;
        table.rows.push_back({{.text = lines.labels[one.line]},
                              value_cell(one.place, axis.unit),
                              value_cell(shown_value(*one.metric), one.metric->unit),
                              value_cell(interval ? std::optional{(*interval)[0]} : std::nullopt, one.metric->unit),
                              value_cell(interval ? std::optional{(*interval)[1]} : std::nullopt, one.metric->unit)});
    }
    return table;
}

Chart chart_of(const std::vector<Measured>& values, const Lines& lines, const SweepAxis& axis, std::string_view metric)
{
    std::string noun = measure::spoken(std::string{metric});
    const std::string y_title = noun;
    noun.front() = static_cast<char>(noun.front() - 'a' + 'A');
    const std::string title = fmt::format("{} by {}", noun, measure::spoken(axis.name));
    const auto [least, most] =
        std::ranges::minmax_element(values, {}, [](const Measured& one) { return shown_value(*one.metric); });
    const auto described = [&](const Measured& one) {
        return fmt::format("{} ({} at {})", value_text(shown_value(*one.metric), one.metric->unit),
                           lines.labels[one.line], value_text(one.place, axis.unit));
    };
    return {.title = title,
            .about = fmt::format("{} on logarithmic axes; a band is the median's 95 % interval, where there are 6 "
                                 "repetitions.",
                                 is_shown_by_least(metric) ? "The least samples" : "Medians"),
            .spoken =
                inert_text(fmt::format("Lines: {}, from {} to {}.", y_title, described(*least), described(*most))),
            .spec = spec_of(values, lines, axis, y_title),
            .data = {data_table(values, lines, axis, title)}};
}

}  // namespace

std::vector<Chart> sweep_charts(const Cases& cases)
{
    const auto axis = sweep_axis(cases);
    const std::string_view metric = metric_of(cases);
    if (!axis || metric.empty()) {
        return {};
    }
    const Lines lines = lines_of(cases, *axis, metric);
    std::vector<Chart> charts;
    for (std::size_t first = 0; first < lines.labels.size(); first += max_lines) {
        std::vector<Measured> values;
        std::ranges::copy_if(lines.values, std::back_inserter(values),
                             [&](const Measured& one) { return one.line >= first && one.line < first + max_lines; });
        charts.push_back(chart_of(values, lines, *axis, metric));
    }
    return charts;
}

bool sweep_is_answer(const Cases& cases)
{
    const auto axis = sweep_axis(cases);
    const std::string_view metric = metric_of(cases);
    const std::size_t lines = !axis || metric.empty() ? 0 : lines_of(cases, *axis, metric).labels.size();
    return lines > 1 && lines <= max_lines;
}

}  // namespace memsweep::reporters
