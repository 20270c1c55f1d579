#include "core/model/metric_id.hpp"
#include "reporters/document/comparison_parts.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "core/measure/format.hpp"
#include "core/measure/time_contrast.hpp"
#include "reporters/document/case_keys.hpp"
#include "reporters/text/display_text.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/text/json_parse.hpp"

namespace memsweep::reporters {
namespace {

using measure::Comparison;
using measure::MetricComparison;
using measure::Verdict;

constexpr std::size_t most_rows = 24;
constexpr std::string_view comparison_spec = R"json({
"width": 640, "height": {"step": 24},
"usermeta": {"room": 430, "names_above": true},
"data": {"values": []},
"encoding": {
  "y": {"field": "row", "type": "nominal", "title": null, "sort": null, "axis": {"labelLimit": 345, "grid": true}},
  "tooltip": [{"field": "name", "type": "nominal", "title": "metric"}, {"field": "base", "type": "nominal", "title": "base"},
    {"field": "candidate", "type": "nominal", "title": "candidate"}, {"field": "ratio", "type": "nominal", "title": "ratio"},
    {"field": "interval", "type": "nominal", "title": "95 % interval"}, {"field": "verdict", "type": "nominal", "title": "verdict"}]},
"layer": [
  {"data": {"values": [{"x": 1}]}, "mark": {"type": "rule", "strokeDash": [4, 3], "style": "reference"},
   "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": null, "tooltip": null}},
  {"mark": {"type": "rule", "strokeWidth": 2},
   "encoding": {"x": {"field": "low", "type": "quantitative"}, "x2": {"field": "high"},
     "color": {"field": "verdict", "type": "nominal", "legend": {"title": null, "symbolOpacity": 1}}}},
  {"mark": {"type": "point", "filled": true, "size": 80, "opacity": 1},
   "encoding": {"x": {"field": "x", "type": "quantitative", "title": "candidate / base (logarithmic)",
       "scale": {"type": "log", "nice": false, "padding": 24, "domain": []}},
     "color": {"field": "verdict", "type": "nominal", "legend": {"title": null, "symbolOpacity": 1}},
     "shape": {"field": "verdict", "type": "nominal", "legend": {"title": null, "symbolOpacity": 1}}}},
  {"transform": [{"filter": "!datum.bad"}], "mark": {"type": "text", "style": "value", "dy": -10},
   "encoding": {"x": {"field": "x", "type": "quantitative"}, "text": {"field": "ratio", "type": "nominal"}}},
  {"transform": [{"filter": "datum.bad"}], "mark": {"type": "text", "style": "bad", "dy": -10},
   "encoding": {"x": {"field": "x", "type": "quantitative"}, "text": {"field": "ratio", "type": "nominal"}}}
]})json";

bool has_ratio(const MetricComparison& metric)
{
    return metric.shift && metric.shift->is_ratio && metric.shift->estimate > 0 &&
           std::isfinite(metric.shift->estimate);
}

// Beside the time of an operation the whole time says nothing new.
void keep_one_time(std::vector<const MetricComparison*>& metrics)
{
    std::set<std::size_t> with_time_per_op;
    for (const MetricComparison* metric : metrics) {
        if (metric->metric == model::metrics::time_per_op) {
            with_time_per_op.insert(metric->pair);
        }
    }
    std::erase_if(metrics, [&](const MetricComparison* metric) {
        return metric->metric == model::metrics::wall_time && with_time_per_op.contains(metric->pair);
    });
}

std::vector<const MetricComparison*> drawn(const Comparison& comparison)
{
    std::vector<const MetricComparison*> changed;
    std::vector<const MetricComparison*> times;
    for (const MetricComparison& metric : comparison.metrics) {
        if (!has_ratio(metric)) {
            continue;
        }
        if (metric.verdict == Verdict::regressed || metric.verdict == Verdict::improved) {
            changed.push_back(&metric);
        }
        if (measure::is_time(metric.metric)) {
            times.push_back(&metric);
        }
    }
    std::vector<const MetricComparison*>& chosen = changed.empty() ? times : changed;
    keep_one_time(chosen);
    std::ranges::stable_sort(chosen, std::ranges::greater{}, [](const MetricComparison* metric) {
        return std::pair{metric->verdict == Verdict::regressed, std::fabs(std::log(metric->shift->estimate))};
    });
    chosen.resize(std::min(chosen.size(), most_rows));
    return chosen;
}

// "mode=finalizer · wall_time"; of several scenarios with its name.
std::string row_name(const Comparison& comparison, const MetricComparison& metric, bool one_case)
{
    const measure::ComparedCase& one = comparison.cases[metric.pair];
    const std::string name = short_id(one.label, one.scenario);
    return one_case || name.empty() ? metric.metric : fmt::format("{} · {}", name, metric.metric);
}

std::vector<std::string> row_names(const Comparison& comparison, const std::vector<const MetricComparison*>& metrics)
{
    std::vector<std::string> names;
    for (const MetricComparison* metric : metrics) {
        names.push_back(inert_text(row_name(comparison, *metric, comparison.cases.size() == 1)));
    }
    make_distinct(names);
    return names;
}

std::string ratio_interval_text(const MetricComparison& metric)
{
    return interval_text(metric.shift->interval, " to ", [&](double end) { return shift_text(metric, end); });
}

Json comparison_record(const MetricComparison& metric, const std::string& row, const std::string& name)
{
    const measure::Shift& shift = *metric.shift;
    Json values{{"row", row},
                {"name", name},
                {"x", chart_number(shift.estimate)},
                {"ratio", shift_text(metric, shift.estimate)},
                {"base", value_text(*metric.base_median, metric.unit)},
                {"candidate", value_text(*metric.candidate_median, metric.unit)},
                {"verdict", std::string{model::name_of(metric.verdict)}},
                {"bad", metric.verdict == Verdict::regressed}};
    if (shift.interval && (*shift.interval)[0] > 0) {
        values["low"] = chart_number((*shift.interval)[0]);
        values["high"] = chart_number((*shift.interval)[1]);
        values["interval"] = ratio_interval_text(metric);
    }
    return values;
}

std::pair<double, double> ends_of(const std::vector<const MetricComparison*>& metrics)
{
    constexpr double least_span = 1.1;  // so that ratios of 1.00 do not fill the axis with nothing
    double low = 1 / least_span;
    double high = least_span;
    const auto take = [&](double end) {
        if (std::isfinite(end) && end > 0) {
            low = std::min(low, end);
            high = std::max(high, end);
        }
    };
    for (const MetricComparison* metric : metrics) {
        const measure::Shift& shift = *metric->shift;
        take(shift.estimate);
        if (shift.interval) {
            take((*shift.interval)[0]);
            take((*shift.interval)[1]);
        }
    }
    return {low, high};
}

// What got worse has the colour of what is bad, whichever of the two there is.
void colour_by_verdict(Json& spec, const std::vector<const MetricComparison*>& metrics)
{
    Json there = Json::array();
    for (const Verdict verdict : {Verdict::regressed, Verdict::improved}) {
        if (std::ranges::find(metrics, verdict, &MetricComparison::verdict) != metrics.end()) {
            there.push_back(std::string{model::name_of(verdict)});
        }
    }
    const Json both =
        Json::array({std::string{model::name_of(Verdict::regressed)}, std::string{model::name_of(Verdict::improved)}});
    for (std::size_t layer = 1; layer <= 2; ++layer) {
        Json& colour = spec["layer"][layer]["encoding"]["color"];
        colour["scale"] = {{"domain", both}, {"range", "ordinal"}};
        colour["legend"]["values"] = there;
    }
    Json& shape = spec["layer"][2]["encoding"]["shape"];
    shape["scale"] = {{"domain", both}};
    shape["legend"]["values"] = there;
}

DotPicture picture_of(const std::vector<const MetricComparison*>& metrics, const std::vector<std::string>& names)
{
    constexpr double room = 1.02;  // beyond the outermost mark
    const auto [low, high] = ends_of(metrics);
    DotPicture picture{.quantity = "candidate / base",
                       .unit = model::Unit::one,
                       .from = low / room,
                       .to = high * room,
                       .is_log = true,
                       .lines = {{.at = 1}}};
    for (std::size_t i = 0; i < metrics.size(); ++i) {
        const measure::Shift& shift = *metrics[i]->shift;
        const Interval interval = shift.interval && (*shift.interval)[0] > 0 ? shift.interval : std::nullopt;
        picture.rows.push_back({names[i], shift.estimate, interval ? (*interval)[0] : shift.estimate,
                                interval ? (*interval)[1] : shift.estimate, shift_text(*metrics[i], shift.estimate),
                                tone_of(metrics[i]->verdict)});
    }
    return picture;
}

Table data_table(const std::vector<const MetricComparison*>& metrics, const std::vector<std::string>& names)
{
    Table table{.title = "Ratios", .note = "candidate / base"};
    table.columns = {Column::key("metric")};
    table.add_numbers({"base", "candidate", "ratio", "interval"});
    table.columns.push_back(Column::verdict("verdict"));
    for (std::size_t i = 0; i < metrics.size(); ++i) {
        const MetricComparison& metric = *metrics[i];
        table.rows.push_back({{.text = names[i]},
                              value_cell(metric.base_median, metric.unit),
                              value_cell(metric.candidate_median, metric.unit),
                              {.text = shift_text(metric, metric.shift->estimate)},
                              {.text = ratio_interval_text(metric)},
                              verdict_cell(metric.verdict)});
    }
    return table;
}

}  // namespace

std::optional<Chart> comparison_chart(const Comparison& comparison)
{
    const std::vector<const MetricComparison*> metrics = drawn(comparison);
    if (metrics.empty()) {
        return std::nullopt;
    }
    const std::vector<std::string> names = row_names(comparison, metrics);
    const bool changed = measure::is_change(metrics.front()->verdict);
    Json spec = json_of(comparison_spec);
    constexpr int widest_name = 50;  // in letters: what the axis has room for
    const std::vector<std::string> rows = elided_apart(names, widest_name);
    for (std::size_t i = 0; i < metrics.size(); ++i) {
        spec["data"]["values"].push_back(comparison_record(*metrics[i], rows[i], names[i]));
    }
    const auto [low, high] = ends_of(metrics);
    constexpr double least_span = 1.2;
    LogAxis axis = log_axis(model::Unit::one, low, high, least_span);
    spec["layer"][2]["encoding"]["x"]["scale"]["domain"] = std::move(axis.domain);
    spec["layer"][2]["encoding"]["x"]["axis"] = std::move(axis.axis);
    if (changed) {
        colour_by_verdict(spec, metrics);
    }
    const MetricComparison& most = *metrics.front();
    return Chart{.title = changed ? "What changed" : "Time, base and candidate",
                 .about = changed ? "Each metric that changed, as candidate / base with its 95 % interval; the dashed "
                                    "line is no change."
                                  : "The time of each case, as candidate / base with its 95 % interval where there are "
                                    "enough repetitions; the dashed line is no change.",
                 .spoken = inert_text(fmt::format("Ratios of {}, the first {} {}.", plural(metrics.size(), "metric"),
                                                  names.front(), shift_text(most, most.shift->estimate))),
                 .spec = std::move(spec),
                 .data = {data_table(metrics, names)},
                 .picture = picture_of(metrics, names)};
}

}  // namespace memsweep::reporters
