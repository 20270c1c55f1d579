#include "reporters/document/replay_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "core/measure/cases.hpp"
#include "core/measure/replay_verdict.hpp"
#include "core/model/metric_id.hpp"
#include "reporters/document/run_tables.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/text/json_parse.hpp"

namespace memsweep::reporters {
namespace {

struct Replayed {
    const model::CaseReport* report{};
    std::string name;     // by what varies
    std::string threads;  // only cases of the same are weighed against each other
    bool is_null{};       // no memory at all: no choice
    double seconds{};     // per event
    std::array<double, 2> interval{};
    double bytes{};  // resident at the peak
    bool on_device{};
    bool on_front{};
};

std::optional<double> median_in(const model::CaseReport& report, std::string_view name)
{
    const model::Metric* metric = summarised(report, name);
    return metric == nullptr ? std::nullopt : std::optional{metric->summary->median};
}

Cases replays_of(const Cases& cases)
{
    Cases found;
    std::ranges::copy_if(cases, std::back_inserter(found),
                         [](const auto* one) { return summarised(*one, model::metrics::time_per_event) != nullptr; });
    return found;
}

bool beats(const Replayed& a, const Replayed& b)
{
    if (a.threads != b.threads || a.is_null) {
        return false;
    }
    if (a.on_device || b.on_device) {  // a device's memory is in no working set
        return a.seconds < b.seconds;
    }
    return a.seconds <= b.seconds && a.bytes <= b.bytes && (a.seconds < b.seconds || a.bytes < b.bytes);
}

std::vector<Replayed> replayed(const Cases& cases)
{
    const Cases found = replays_of(cases);
    const CaseKeys keys{found};
    std::vector<Replayed> all;
    for (const model::CaseReport* report : found) {
        const auto peak = median_in(*report, model::metrics::resident_peak);
        const auto bytes = peak ? peak : median_in(*report, model::metrics::working_set_peak_delta);
        if (report->status != model::Status::ok || !bytes) {
            continue;
        }
        const model::Summary& time = *summarised(*report, model::metrics::time_per_event)->summary;
        const std::string name = keys.name(*report, " ");  // "jemalloc finalizer 2": what differs among them
        all.push_back({.report = report,
                       .name = name.empty() ? report->id : name,
                       .threads = measure::value_on(*report, "threads").value_or(""),
                       .is_null = measure::value_on(*report, "on") == "null",
                       .seconds = time.median,
                       .interval = time.ci95.value_or(std::array{time.min, time.max}),
                       .bytes = std::max(*bytes, 1.0),
                       .on_device = measure::is_on_device(*report)});
    }
    for (Replayed& one : all) {
        one.on_front =
            !one.is_null && std::ranges::none_of(all, [&](const Replayed& other) { return beats(other, one); });
    }
    return all;
}

std::uint64_t calls_of(const model::CallTimes& times)
{
    return std::accumulate(times.counts.begin(), times.counts.end(), std::uint64_t{0});
}

// What so large a share of the calls did not exceed, to the step.
std::optional<double> time_within(const model::CallTimes& times, double share)
{
    const auto wanted = share * static_cast<double>(calls_of(times));
    double seen = 0;
    for (std::size_t step = 0; step < times.seconds.size(); ++step) {
        seen += static_cast<double>(times.counts[step]);
        if (seen >= wanted) {
            return times.seconds[step];
        }
    }
    return std::nullopt;
}

std::string time_text(double seconds)
{
    return value_text(seconds, model::Unit::seconds);
}

std::string memory_text(double bytes)
{
    return value_text(bytes, model::Unit::bytes);
}

constexpr std::string_view replay_spec = R"json({
"data": {"values": []},
"width": 640, "height": 360,
"usermeta": {"room": 150, "spread": "case"},
"encoding": {
  "x": {"field": "time", "type": "quantitative", "scale": {"type": "log", "nice": false, "padding": 20}},
  "y": {"field": "memory", "type": "quantitative", "scale": {"type": "log", "nice": false, "padding": 20}},
  "tooltip": [{"field": "case", "title": "case"}, {"field": "time_text", "title": "time per event"},
    {"field": "memory_text", "title": "resident at the peak"}, {"field": "front", "title": "on the front"}]},
"layer": [
  {"transform": [{"filter": "datum.front == 'yes'"}],
   "mark": {"type": "line", "interpolate": "step-after", "strokeDash": [4, 4], "opacity": 0.6},
   "encoding": {"detail": {"field": "threads"}, "order": {"field": "time"}}},
  {"mark": {"type": "rule", "opacity": 0.5},
   "encoding": {"x": {"field": "low", "type": "quantitative"}, "x2": {"field": "high"}}},
  {"mark": {"type": "point", "filled": true, "size": 90, "opacity": 1},
   "encoding": {"shape": {"field": "front", "type": "nominal", "legend": null,
      "scale": {"domain": ["yes", "no"], "range": ["circle", "cross"]}}}},
  {"mark": {"type": "text", "style": "value", "align": "left", "dx": 9, "dy": {"expr": "isValid(datum.name_dy) ? datum.name_dy : -8"}},
   "encoding": {"text": {"field": "case", "type": "nominal"}}}
]})json";

Json replay_record(const Replayed& one, const ChartUnit& time, const ChartUnit& memory)
{
    return {{"case", inert_text(one.name)},
            {"threads", one.threads},
            {"time", chart_number(one.seconds / time.factor)},
            {"low", chart_number(one.interval[0] / time.factor)},
            {"high", chart_number(one.interval[1] / time.factor)},
            {"memory", chart_number(one.bytes / memory.factor)},
            {"time_text", time_text(one.seconds)},
            {"memory_text", memory_text(one.bytes)},
            {"front", one.on_front ? "yes" : "no"}};
}

// In this unit; `ends` are the least and the largest that is drawn of one.
template <typename Ends>
void set_axis(Json& channel, const std::vector<Replayed>& all, const ChartUnit& unit, Ends ends)
{
    double least = INFINITY;
    double most = 0;
    for (const Replayed& one : all) {
        const auto [low, high] = ends(one);
        least = std::min(least, low);
        most = std::max(most, high);
    }
    LogAxis axis = log_axis(model::Unit::one, least / unit.factor, most / unit.factor);
    channel["axis"] = std::move(axis.axis);
    if (!axis.domain.is_null()) {
        channel["scale"]["domain"] = std::move(axis.domain);
    }
}

}  // namespace

std::optional<Table> replay_table(const Cases& cases)
{
    const Cases found = replays_of(cases);
    if (found.empty()) {
        return std::nullopt;
    }
    const CaseKeys keys{found};
    struct Shown {
        const char* title;
        std::string_view metric;
        model::Unit unit;
    };
    constexpr std::array shown{Shown{"per event", model::metrics::time_per_event, model::Unit::seconds},
                               Shown{"dispatch", model::metrics::dispatch_per_event, model::Unit::seconds},
                               Shown{"p99 alloc", model::metrics::allocate_time_p99, model::Unit::seconds},
                               Shown{"peak", model::metrics::resident_peak, model::Unit::bytes},
                               Shown{"end", model::metrics::resident_end, model::Unit::bytes},
                               Shown{"idle", model::metrics::resident_idle, model::Unit::bytes},
                               Shown{"all freed", model::metrics::retained_0s, model::Unit::bytes},
                               Shown{"trimmed", model::metrics::retained_trimmed, model::Unit::bytes},
                               Shown{"faults", model::metrics::minor_faults, model::Unit::one}};
    Table table{.title = "Time and memory",
                .note =
                    "medians; dispatch: the same events on no memory, which the time contains; waiting is in neither; "
                    "peak, end, idle: resident without files and without the trace, up to its last event, then, and "
                    "after idling, which memory of a device is not; all freed, trimmed: resident above the baseline; "
                    "front: no other is lower in time or at the peak and as low in the other (in time alone if one of "
                    "the two has memory of a device)",
                .columns = keys.columns(),
                .rows = {}};
    for (const Shown& one : shown) {
        table.columns.push_back(Column::number(one.title));
    }
    table.columns.push_back(Column::word("front"));
    const auto weighed = replayed(cases);
    for (const model::CaseReport* report : found) {
        std::vector<Cell> row = keys.cells(*report);
        for (const Shown& one : shown) {
            const bool is_old_peak = one.metric == model::metrics::resident_peak && !median_in(*report, one.metric);
            const std::string_view metric = is_old_peak ? model::metrics::working_set_peak_delta : one.metric;
            row.push_back(value_cell(median_in(*report, metric), one.unit));
        }
        const auto at = std::ranges::find(weighed, report, &Replayed::report);
        const bool on_front = at != weighed.end() && at->on_front;
        row.push_back({.text = on_front ? "yes" : "", .tone = on_front ? Tone::good : Tone::plain});
        table.rows.push_back(std::move(row));
    }
    return table;
}

std::optional<Table> call_times_table(const Cases& cases)
{
    Cases timed;
    std::ranges::copy_if(cases, std::back_inserter(timed), [](const auto* one) { return !one->call_times.empty(); });
    if (timed.empty()) {
        return std::nullopt;
    }
    const CaseKeys keys{timed};
    Table table{.title = "Single calls by size",
                .note = "of all repetitions, to a quarter of a doubling; two readings of a clock are in each",
                .columns = keys.columns(),
                .rows = {}};
    table.columns.push_back(Column::key("call"));
    table.columns.push_back(Column::number_key("up to"));
    table.add_numbers({"calls", "median", "p99", "slowest"});
    for (const model::CaseReport* report : timed) {
        for (const model::CallTimes& times : report->call_times) {
            std::vector<Cell> row = keys.cells(*report);
            row.push_back({.text = times.call});
            row.push_back(value_cell(static_cast<double>(times.to_bytes), model::Unit::bytes));
            row.push_back(value_cell(static_cast<double>(calls_of(times)), model::Unit::one));
            for (const double share : {0.5, 0.99, 1.0}) {
                row.push_back(value_cell(time_within(times, share), model::Unit::seconds));
            }
            table.rows.push_back(std::move(row));
        }
    }
    return table;
}

std::optional<Chart> replay_chart(const Cases& cases)
{
    std::vector<Replayed> all = replayed(cases);
    std::erase_if(all, [](const Replayed& one) { return one.is_null; });
    if (all.size() < 2) {
        return std::nullopt;
    }
    const ChartUnit time = chart_unit(model::Unit::seconds, std::ranges::max(all, {}, &Replayed::seconds).seconds);
    const ChartUnit memory = chart_unit(model::Unit::bytes, std::ranges::max(all, {}, &Replayed::bytes).bytes);
    Json spec = json_of(replay_spec);
    Json records = Json::array();
    for (const Replayed& one : all) {
        records.push_back(replay_record(one, time, memory));
    }
    spec["data"]["values"] = std::move(records);
    spec["encoding"]["x"]["title"] = fmt::format("time per event ({}, logarithmic)", time.name);
    set_axis(spec["encoding"]["x"], all, time, [](const Replayed& one) {
        return std::pair{one.interval[0], one.interval[1]};
    });
    set_axis(spec["encoding"]["y"], all, memory, [](const Replayed& one) { return std::pair{one.bytes, one.bytes}; });
    spec["encoding"]["y"]["title"] =
        fmt::format("resident at the peak, above the baseline ({}, logarithmic)", memory.name);
    std::optional<Table> table = replay_table(cases);
    return Chart{.title = "Time against memory",
                 .about = "Nearer to the lower left is better; the dashed line joins the cases that no other has lower "
                          "medians than in both. Bars: 95 % intervals of the median, or the range of too few "
                          "repetitions.",
                 .spoken = "Points: time per event and memory of each case.",
                 .spec = std::move(spec),
                 .data = {*std::move(table)}};
}

}  // namespace memsweep::reporters
