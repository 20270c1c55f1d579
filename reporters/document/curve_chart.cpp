#include "reporters/document/curve_chart.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

#include <fmt/format.h>

#include "core/measure/cases.hpp"
#include "core/measure/contrasts.hpp"
#include "core/measure/format.hpp"
#include "core/model/metric_id.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/text/json_parse.hpp"
#include "reporters/wording/finding_words.hpp"

namespace memsweep::reporters {
namespace {

constexpr std::string_view curve_spec = R"json({
"data": {"values": []},
"facet": {"row": {"field": "strip", "type": "nominal", "title": null, "header": {
  "labelOrient": "top", "labelAnchor": "start", "labelAngle": 0, "labelLimit": 1000, "labelPadding": 0}}},
"spacing": 20,
"spec": {"width": 640, "height": 88, "layer": [
  {"transform": [{"filter": "datum.is === 'phase'"}],
   "mark": {"type": "rect", "style": "phase"},
   "encoding": {"x": {"field": "t", "type": "quantitative"}, "x2": {"field": "end"}}},
  {"transform": [{"filter": "datum.is === 'phase' && datum.wide"}],
   "mark": {"type": "text", "style": "phase-name", "align": "left", "baseline": "top", "dx": 4, "y": 3},
   "encoding": {"x": {"field": "t", "type": "quantitative"}, "text": {"field": "name"}}},
  {"transform": [{"filter": "datum.is === 'sample' && datum.curve === 'working set'"}],
   "mark": {"type": "area", "style": "curve-area", "clip": true},
   "encoding": {"x": {"field": "t", "type": "quantitative"}, "y": {"field": "v", "type": "quantitative"}}},
  {"transform": [{"filter": "datum.is === 'sample'"}],
   "params": [{"name": "zoom", "bind": "scales",
     "select": {"type": "interval", "encodings": ["x"], "zoom": "wheel![event.ctrlKey]"}}],
   "mark": {"type": "line", "strokeWidth": 1.6, "clip": true},
   "encoding": {
     "x": {"field": "t", "type": "quantitative", "scale": {"nice": false}, "axis": {"tickCount": 8}},
     "y": {"field": "v", "type": "quantitative", "scale": {"zero": true}, "axis": {"tickCount": 3}},
     "color": {"field": "curve", "type": "nominal", "legend": {"title": null, "symbolType": "stroke"}},
     "strokeDash": {"field": "curve", "type": "nominal"}}},
  {"transform": [{"filter": "datum.is === 'slice'"}],
   "params": [{"name": "pointed", "select": {"type": "point", "on": "pointerover", "clear": "pointerout"}}],
   "mark": {"type": "rect", "style": "slice", "clip": true},
   "encoding": {"x": {"field": "t", "type": "quantitative"}, "x2": {"field": "end"},
     "opacity": {"condition": {"param": "pointed", "empty": false, "value": 1}, "value": 0}}}
]}})json";

struct Curve {
    std::string name;
    const model::Series* series{};
};

std::vector<Curve> curves_of(const model::CaseReport& report)
{
    const std::uint32_t repetition = first_repetition(report);
    std::vector<Curve> curves;
    for (const model::Series& series : report.series) {
        if (series.repetition == repetition && series.unit == model::Unit::bytes && !series.t.empty()) {
            curves.push_back({inert_text(measure::spoken(series.name)), &series});
        }
    }
    return curves;
}

std::size_t size_of(const model::Series& series)
{
    return std::min(series.t.size(), series.v.size());
}

std::vector<std::size_t> kept_of(const model::Series& series, std::size_t limit)
{
    return thinned(std::span{series.v}.first(size_of(series)), limit);
}

// What the axes of a chart span, and in which units.
struct Frame {
    double end{};
    ChartUnit time, size;
    double top{};
};

Frame frame_of(const ChartGroup& group)
{
    Frame frame;
    for (const ChartCase& one : group.cases) {
        for (const Curve& curve : curves_of(*one.report)) {
            for (std::size_t i = 0; i < size_of(*curve.series); ++i) {
                frame.end = std::isfinite(curve.series->t[i]) ? std::max(frame.end, curve.series->t[i]) : frame.end;
                frame.top = std::isfinite(curve.series->v[i]) ? std::max(frame.top, curve.series->v[i]) : frame.top;
            }
        }
    }
    frame.time = chart_unit(model::Unit::seconds, frame.end);
    frame.size = chart_unit(model::Unit::bytes, frame.top);
    return frame;
}

const model::CaseReport& base_of(const ChartGroup& group)
{
    const auto found = std::ranges::find_if(
        group.cases, [](const ChartCase& one) { return measure::mode_of(*one.report) == "refcount"; });
    return found == group.cases.end() ? *group.cases.front().report : *found->report;
}

// "finalizer: peak 767.9 MiB; holds 762.9 MiB after drop; ...", of the repetition that is drawn.
std::string strip_title(const ChartCase& one, const model::CaseReport& base)
{
    const model::CaseReport drawn = drawn_repetition(*one.report);
    std::vector<std::string> parts;
    if (const auto peak = measure::case_median(drawn, {}, model::metrics::working_set_peak)) {
        parts.push_back("peak " + value_text(*peak, model::Unit::bytes));
    }
    const auto mode = measure::mode_of(base);
    if (mode && &base != one.report) {
        const auto held = measure::held(drawn_repetition(base), drawn);
        parts.push_back(held ? held_part(*held, *mode) : std::string{});
    }
    std::erase(parts, std::string{});
    return inert_text(parts.empty() ? one.label : fmt::format("{}: {}", one.label, listed(parts, "; ")));
}

// A name that Vega takes for nothing but a name, whatever the curve is called.
std::string field_of(std::ptrdiff_t curve)
{
    return fmt::format("v{}", curve);
}

class Records {
  public:
    Records(const Frame& frame, const CurveDetail& detail, const std::vector<std::string>& names)
        : frame_{frame}, detail_{detail}, names_{names}
    {
    }

    void add(const std::string& strip, const model::CaseReport& report)
    {
        add_phases(strip, report);
        const std::vector<Curve> curves = curves_of(report);
        for (const Curve& curve : curves) {
            add_samples(strip, curve);
        }
        if (!curves.empty()) {
            add_slices(strip, curves);
        }
    }
    [[nodiscard]] Json take() { return std::move(values_); }

  private:
    [[nodiscard]] Json time(double t) const { return chart_number(t / frame_.time.factor); }

    void add_phases(const std::string& strip, const model::CaseReport& report)
    {
        constexpr double least_share = 0.09;  // share of the axis: narrower phases have no room for their name
        const std::uint32_t repetition = first_repetition(report);
        for (const model::Phase& phase : report.phases) {
            if (phase.repetition == repetition && phase.end - phase.start > frame_.end * 0.002) {
                values_.push_back({{"strip", strip},
                                   {"is", "phase"},
                                   {"name", inert_text(phase.name)},
                                   {"t", time(phase.start)},
                                   {"end", time(std::min(phase.end, frame_.end))},
                                   {"wide", phase.end - phase.start >= frame_.end * least_share}});
            }
        }
    }

    void add_samples(const std::string& strip, const Curve& curve)
    {
        for (const std::size_t i : kept_of(*curve.series, detail_.samples)) {
            values_.push_back({{"strip", strip},
                               {"is", "sample"},
                               {"curve", curve.name},
                               {"t", time(curve.series->t[i])},
                               {"v", chart_number(curve.series->v[i] / frame_.size.factor)}});
        }
    }

    // From the middle between two samples to the next middle, so that the sample nearest to the pointer is shown.
    void add_slices(const std::string& strip, const std::vector<Curve>& curves)
    {
        const model::Series& first = *curves.front().series;
        const std::vector<std::size_t> kept = kept_of(first, detail_.slices);
        for (std::size_t i = 0; i < kept.size(); ++i) {
            const double at = first.t[kept[i]];
            const double before = i == 0 ? at : (first.t[kept[i - 1]] + at) / 2;
            const double after = i + 1 == kept.size() ? at : (at + first.t[kept[i + 1]]) / 2;
            Json slice{{"strip", strip},
                       {"is", "slice"},
                       {"t", time(before)},
                       {"end", time(after)},
                       {"at", value_text(at, model::Unit::seconds)}};
            for (const Curve& curve : curves) {
                slice[field_of(std::ranges::find(names_, curve.name) - names_.begin())] = value_at(*curve.series, at);
            }
            values_.push_back(std::move(slice));
        }
    }

    // The last sample at or before `t`.
    static std::string value_at(const model::Series& series, double t)
    {
        const auto times = std::span{series.t}.first(size_of(series));
        const auto after = std::ranges::upper_bound(times, t);
        return after == times.begin()
                   ? std::string{}
                   : value_text(series.v[static_cast<std::size_t>(after - times.begin()) - 1], model::Unit::bytes);
    }

    const Frame& frame_;
    const CurveDetail& detail_;
    const std::vector<std::string>& names_;
    Json values_ = Json::array();
};

std::vector<std::string> curve_names(const ChartGroup& group)
{
    std::vector<std::string> names;
    for (const ChartCase& one : group.cases) {
        for (const Curve& curve : curves_of(*one.report)) {
            if (std::ranges::find(names, curve.name) == names.end()) {
                names.push_back(curve.name);
            }
        }
    }
    return names;
}

Json tooltip(const std::vector<std::string>& names)
{
    Json fields = Json::array({{{"field", "at"}, {"type", "nominal"}, {"title", "time"}}});
    for (const std::string& name : names) {
        const auto number = static_cast<std::ptrdiff_t>(fields.size()) - 1;
        fields.push_back({{"field", field_of(number)}, {"type", "nominal"}, {"title", name}});
    }
    return fields;
}

Json spec_of(const ChartGroup& group, const std::vector<std::string>& strips, const CurveDetail& detail)
{
    const Frame frame = frame_of(group);
    Json spec = json_of(curve_spec);
    const std::vector<std::string> names = curve_names(group);
    Records records{frame, detail, names};
    for (std::size_t i = 0; i < strips.size(); ++i) {
        records.add(strips[i], *group.cases[i].report);
    }
    spec["data"]["values"] = records.take();
    spec["facet"]["row"]["sort"] = strips;
    Json& lines = spec["spec"]["layer"][3]["encoding"];
    lines["x"]["scale"]["domain"] = {0, chart_number(frame.end / frame.time.factor)};
    lines["color"]["scale"] = {{"domain", names}};
    lines["strokeDash"]["scale"] = {{"domain", names}};
    for (Json& layer : spec["spec"]["layer"].elements()) {  // the same on all, or their titles would be joined
        layer["encoding"]["x"]["title"] = fmt::format("time ({})", frame.time.name);
        if (layer["encoding"].contains("y")) {
            layer["encoding"]["y"]["title"] = std::string{frame.size.name};
        }
    }
    spec["spec"]["layer"][4]["encoding"]["tooltip"] = tooltip(names);
    return spec;
}

Table series_table(const ChartCase& one, const Curve& curve, std::size_t most_rows)
{
    const model::Series& series = *curve.series;
    const std::vector<std::size_t> kept = kept_of(series, most_rows);
    Table table{
        .title = fmt::format("{}: {}", one.label, curve.name),
        .note = kept.size() == size_of(series)
                    ? plural(size_of(series), "sample")
                    : fmt::format("{} of {} samples: each stretch's lowest and highest", kept.size(), size_of(series))};
    table.columns = {Column::number_key("time"), Column::number(curve.name)};
    for (const std::size_t i : kept) {
        table.rows.push_back({value_cell(series.t[i], model::Unit::seconds), value_cell(series.v[i], series.unit)});
    }
    return table;
}

}  // namespace

model::CaseReport drawn_repetition(const model::CaseReport& report)
{
    const std::uint32_t repetition = first_repetition(report);
    model::CaseReport drawn{.id = report.id,
                            .scenario = report.scenario,
                            .params = report.params,
                            .release = report.release,
                            .repetitions = 1,
                            .planned_repetitions = 1,
                            .operation = report.operation};
    for (const model::Metric& metric : report.metrics) {
        model::Metric& one = drawn.metrics.emplace_back(metric);
        one.values = repetition < metric.values.size() ? std::vector{metric.values[repetition]}
                                                       : std::vector<std::optional<double>>{};
        one.summary.reset();
    }
    std::ranges::copy_if(report.points, std::back_inserter(drawn.points),
                         [&](const model::Point& point) { return point.repetition == repetition; });
    return drawn;
}

CurveDetail curve_detail(const Cases& cases)
{
    std::size_t strips = 0;
    std::size_t curves = 0;
    for (const model::CaseReport* one : cases) {
        const std::size_t count = curves_of(*one).size();
        strips += count > 0 ? 1 : 0;
        curves += count;
    }
    curves = std::max<std::size_t>(curves, 1);
    strips = std::max<std::size_t>(strips, 1);
    return {.samples = std::clamp<std::size_t>(40'000 / curves, 100, 2'000),
            .slices = std::clamp<std::size_t>(3'000 / strips, 40, 150),
            .rows = std::clamp<std::size_t>(6'000 / curves, 20, 200)};
}

std::optional<Chart> curve_chart(const ChartGroup& group, const CurveDetail& detail)
{
    ChartGroup sampled{group.title, {}};
    std::ranges::copy_if(group.cases, std::back_inserter(sampled.cases),
                         [](const ChartCase& one) { return !curves_of(*one.report).empty(); });
    if (sampled.cases.empty()) {
        return std::nullopt;
    }
    std::vector<std::string> strips;
    std::ranges::transform(sampled.cases, std::back_inserter(strips),
                           [&](const ChartCase& one) { return strip_title(one, base_of(sampled)); });
    make_distinct(strips);
    Chart chart{.title = "Working set over time",
                .about = "The first measured repetition, one strip for each on one time axis; titles speak of it too. "
                         "What falls in live bytes "
                         "was released; what falls in the working set went back to the system.",
                .spoken = fmt::format("Curves of {}. {}.", listed(curve_names(sampled), " and "), listed(strips, ". ")),
                .spec = spec_of(sampled, strips, detail),
                .long_data = true};
    for (const ChartCase& one : sampled.cases) {
        for (const Curve& curve : curves_of(*one.report)) {
            chart.data.push_back(series_table(one, curve, detail.rows));
        }
    }
    return chart;
}

}  // namespace memsweep::reporters
