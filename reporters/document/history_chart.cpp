#include "reporters/document/history_chart.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/measure/format.hpp"
#include "core/measure/summary.hpp"
#include "reporters/document/case_keys.hpp"
#include "reporters/document/document.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/text/json_parse.hpp"
#include "reporters/wording/history_words.hpp"

namespace memsweep::reporters {
namespace {

using measure::Change;
using measure::History;
using measure::Trend;
using measure::Verdict;

constexpr std::string_view history_spec = R"json({
"width": 640, "height": 170,
"usermeta": {"room": 90},
"data": {"values": []},
"encoding": {
  "x": {"field": "x", "type": "quantitative", "title": "run, in the order they were started",
    "scale": {"nice": false, "domain": []}, "axis": {"tickMinStep": 1, "format": "d", "grid": false}},
  "y": {"field": "y", "type": "quantitative", "scale": {"zero": false, "padding": 18}}},
"layer": [
  {"transform": [{"filter": "datum.is === 'change'"}],
   "mark": {"type": "rule", "strokeDash": [4, 3]}, "encoding": {"y": null}},
  {"transform": [{"filter": "datum.is === 'change' && datum.bad"}],
   "mark": {"type": "text", "style": "bad", "align": {"expr": "datum.late ? 'right' : 'left'"}, "baseline": "top", "dx": {"expr": "datum.late ? -4 : 4"}},
   "encoding": {"y": {"value": 0}, "text": {"field": "text", "type": "nominal"}}},
  {"transform": [{"filter": "datum.is === 'change' && !datum.bad"}],
   "mark": {"type": "text", "style": "value", "align": {"expr": "datum.late ? 'right' : 'left'"}, "baseline": "top", "dx": {"expr": "datum.late ? -4 : 4"}},
   "encoding": {"y": {"value": 0}, "text": {"field": "text", "type": "nominal"}}},
  {"transform": [{"filter": "datum.is === 'level'"}],
   "mark": {"type": "rule", "style": "curve-area", "strokeWidth": 7, "opacity": 0.25, "clip": true}, "encoding": {"x2": {"field": "end"}}},
  {"transform": [{"filter": "datum.is === 'run' && isValid(datum.low)"}],
   "mark": {"type": "rule", "opacity": 0.6, "clip": true},
   "encoding": {"y": {"field": "low", "type": "quantitative"}, "y2": {"field": "high"}}},
  {"transform": [{"filter": "datum.is === 'run'"}],
   "params": [{"name": "zoom", "bind": "scales",
     "select": {"type": "interval", "encodings": ["x"], "zoom": "wheel![event.ctrlKey]"}}],
   "mark": {"type": "line", "strokeWidth": 1.2, "opacity": 0.7, "clip": true}, "encoding": {}},
  {"transform": [{"filter": "datum.is === 'run'"}],
   "mark": {"type": "point", "filled": true, "size": 45, "opacity": 1, "clip": true},
   "encoding": {"tooltip": [{"field": "started", "type": "nominal", "title": "run"}, {"field": "name", "type": "nominal", "title": "result"},
     {"field": "version", "type": "nominal", "title": "version"}, {"field": "median", "type": "nominal", "title": "median"},
     {"field": "interval", "type": "nominal", "title": "95 % interval"}]}}
]})json";

void add_runs(const History& history, const Trend& trend, Json& values)
{
    for (std::size_t run = 0; run < trend.points.size(); ++run) {
        const auto& point = trend.points[run];
        if (!point) {
            continue;
        }
        const measure::HistoryRun& of = history.runs[run];
        Json record{{"is", "run"},
                    {"x", run + 1},
                    {"y", chart_number(point->median)},
                    {"started", inert_text(of.started)},
                    {"name", inert_text(of.name)},
                    {"version", inert_text(of.version)},
                    {"median", value_text(point->median, trend.unit)}};
        if (point->ci95) {
            record["low"] = chart_number((*point->ci95)[0]);
            record["high"] = chart_number((*point->ci95)[1]);
            record["interval"] = interval_text(point->ci95, trend.unit);
        }
        values.push_back(std::move(record));
    }
}

std::string short_text(const Trend& trend, const Change& change)
{
    return change.shift.is_ratio && change.shift.interval
               ? fmt::format("{}x from run {}", measure::format_factor(change.shift.estimate), change.run + 1)
               : fmt::format("{} from run {}", value_text(change.after, trend.unit), change.run + 1);
}

void add_levels(const Trend& trend, Json& values)
{
    std::size_t first = 0;
    for (std::size_t i = 0; i <= trend.changes.size(); ++i) {
        const std::size_t end = i < trend.changes.size() ? trend.changes[i].run : trend.points.size();
        std::vector<double> medians;
        for (std::size_t run = first; run < end; ++run) {
            if (trend.points[run]) {
                medians.push_back(trend.points[run]->median);
            }
        }
        if (!medians.empty() && !trend.changes.empty()) {
            values.push_back({{"is", "level"},
                              {"x", static_cast<double>(first) + 0.6},
                              {"end", static_cast<double>(end) + 0.4},
                              {"y", chart_number(measure::median(medians))}});
        }
        first = end;
    }
    for (const Change& change : trend.changes) {
        values.push_back({{"is", "change"},
                          {"x", static_cast<double>(change.run) + 0.5},
                          {"text", short_text(trend, change)},
                          {"late", 2 * change.run > trend.points.size()},
                          {"bad", change.verdict == Verdict::regressed}});
    }
}

Table data_table(const History& history, const Trend& trend, const std::string& title)
{
    Table table{.title = title, .note = "interval: 95 % of the median, from 6 repetitions"};
    table.columns = {Column::number_key("run"), Column::text("started"),  Column::text("version"),
                     Column::text("result"),    Column::number("median"), Column::number("95 % interval"),
                     Column::text("change")};
    for (std::size_t run = 0; run < trend.points.size(); ++run) {
        if (const auto& point = trend.points[run]) {
            const auto change = std::ranges::find(trend.changes, run, &Change::run);
            table.rows.push_back({count_cell(run + 1),
                                  {.text = history.runs[run].started},
                                  {.text = history.runs[run].version},
                                  {.text = history.runs[run].name},
                                  value_cell(point->median, trend.unit),
                                  {.text = interval_text(point->ci95, trend.unit)},
                                  change == trend.changes.end() ? Cell{} : change_cell(change->verdict)});
        }
    }
    return table;
}

std::string changes_sentence(const History& history, const Trend& trend)
{
    if (trend.changes.empty()) {
        return trend.too_few_runs ? too_few_text(trend) + "." : "No change of level.";
    }
    std::string text;
    for (const Change& change : trend.changes) {
        text += fmt::format("{}{} {} from {} on.", text.empty() ? "" : " ", model::name_of(change.verdict),
                            change_text(trend, change), run_text(measure::place_of(history, change.run)));
    }
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
    return text;
}

}  // namespace

Chart history_chart(const History& history, const Trend& trend)
{
    const std::string name = short_id(trend.case_id, history.scenario);
    const std::string title = inert_text(fmt::format("{}: {}", name, measure::spoken(trend.metric)));
    Json spec = json_of(history_spec);
    add_levels(trend, spec["data"]["values"]);
    add_runs(history, trend, spec["data"]["values"]);
    spec["encoding"]["x"]["scale"]["domain"] = {0.5, static_cast<double>(history.runs.size()) + 0.5};
    spec["encoding"]["y"]["title"] = inert_text(measure::spoken(trend.metric));
    spec["encoding"]["y"]["axis"] = {{"labelExpr", axis_label(trend.unit)}, {"tickCount", 5}};
    const std::string sentence = changes_sentence(history, trend);
    return {.title = title,
            .about = sentence + " The axis does not begin at 0.",
            .spoken = inert_text(fmt::format("Line over {}: {}", plural(history.runs.size(), "run"), sentence)),
            .spec = std::move(spec),
            .data = {data_table(history, trend, title)}};
}

Cell change_cell(Verdict verdict)
{
    Cell cell = verdict_cell(verdict);
    cell.tone = verdict == Verdict::informational ? Tone::caution : cell.tone;
    return cell;
}

}  // namespace memsweep::reporters
