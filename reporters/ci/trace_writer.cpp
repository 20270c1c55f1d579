#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "reporters/ci/ci_formats.hpp"
#include "reporters/document/run_document.hpp"
#include "reporters/text/json.hpp"
#include "reporters/text/number_text.hpp"

namespace memsweep::reporters {
namespace {

constexpr double longest_seconds = 86'400;
constexpr std::int64_t last_start_ns = 9'000'000'000'000'000'000;

std::optional<std::int64_t> whole_nanoseconds(double seconds)
{
    const bool has_place = seconds >= 0 && seconds <= longest_seconds;  // not true of what is no number
    return has_place ? std::optional{static_cast<std::int64_t>(std::llround(seconds * 1e9))} : std::nullopt;
}

// A thin gap, so that one repetition can be told from the next.
std::int64_t gap_after(std::int64_t length_ns)
{
    constexpr std::int64_t least_ns = 1'000;
    return std::max(least_ns, length_ns / 20);
}

struct Span {
    std::int64_t start_ns{};
    std::int64_t end_ns{};
};

// The repetitions of a case one after another, so that their phases and curves share one axis of time.
//
// Units    nanoseconds as whole numbers: what nests in the measurement nests after rounding, too.
// Errors   none: a time that is negative, not finite or beyond a day has no place; neither has what happened at it.
using Spans = std::map<std::uint32_t, Span>;

Spans timeline_of(const model::CaseReport& report)
{
    Spans timeline;
    const auto reach = [&](std::uint32_t repetition, double seconds) {
        if (const auto ns = whole_nanoseconds(seconds)) {
            Span& span = timeline[repetition];
            span.end_ns = std::max(span.end_ns, *ns);
        }
    };
    std::ranges::for_each(report.phases, [&](const model::Phase& phase) { reach(phase.repetition, phase.end); });
    std::ranges::for_each(report.points, [&](const model::Point& point) { reach(point.repetition, point.t); });
    for (const model::Series& series : report.series) {
        std::ranges::for_each(series.t, [&](double t) { reach(series.repetition, t); });
    }
    std::int64_t start = 0;
    for (auto& [repetition, span] : timeline) {
        const std::int64_t length = span.end_ns;
        span = {start, start + length};
        start = std::min(last_start_ns, span.end_ns + gap_after(length));
    }
    return timeline;
}

std::optional<std::int64_t> place_on(const Spans& timeline, std::uint32_t repetition, double seconds)
{
    const auto span = timeline.find(repetition);
    const auto ns = whole_nanoseconds(seconds);
    return span != timeline.end() && ns ? std::optional{span->second.start_ns + *ns} : std::nullopt;
}

struct PlacedPhase {
    const model::Phase* phase{};
    std::int64_t start_ns{};
    std::int64_t end_ns{};
    std::size_t lane{};  // within one, any two are nested or apart: a viewer draws nothing else
};

bool comes_before(const PlacedPhase& left, const PlacedPhase& right)
{
    return std::tuple{left.start_ns, -left.end_ns} < std::tuple{right.start_ns, -right.end_ns};
}

using Open = std::vector<std::int64_t>;  // where the phases end that enclose the next one, the innermost last

bool takes(Open& open, const PlacedPhase& phase)
{
    while (!open.empty() && open.back() <= phase.start_ns) {
        open.pop_back();
    }
    if (!open.empty() && open.back() < phase.end_ns) {
        return false;
    }
    open.push_back(phase.end_ns);
    return true;
}

void assign_lanes(std::vector<PlacedPhase>& phases)
{
    std::vector<Open> lanes;
    for (PlacedPhase& phase : phases) {
        while (phase.lane < lanes.size() && !takes(lanes[phase.lane], phase)) {
            ++phase.lane;
        }
        if (phase.lane == lanes.size()) {
            lanes.push_back({phase.end_ns});
        }
    }
}

std::vector<PlacedPhase> placed_phases(const Spans& timeline, const model::CaseReport& report)
{
    std::vector<PlacedPhase> placed;
    for (const model::Phase& phase : report.phases) {
        const auto start = place_on(timeline, phase.repetition, phase.start);
        const auto end = place_on(timeline, phase.repetition, phase.end);
        if (start && end && *start <= *end) {
            placed.push_back({.phase = &phase, .start_ns = *start, .end_ns = *end});
        }
    }
    std::ranges::stable_sort(placed, comes_before);
    assign_lanes(placed);
    return placed;
}

constexpr std::size_t repetition_track = 1;
constexpr std::size_t first_phase_track = 2;

std::string microseconds(std::int64_t ns)
{
    return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

// Writes events one after another, each with the process that was named last.
class Events {
  public:
    explicit Events(TextSink& sink) : sink_{sink} {}

    void begin_process(std::string_view name)
    {
        ++pid_;
        begin("M", "process_name");
        sink_.print(",\"args\":{{\"name\":{}}}}}", compact(name));
    }
    void track_name(std::size_t track, std::string_view name)
    {
        begin("M", "thread_name");
        sink_.print(",\"tid\":{},\"args\":{{\"name\":{}}}}}", track, compact(name));
    }
    void span(std::size_t track, std::string_view name, std::int64_t start_ns, std::int64_t end_ns,
              std::string_view args)
    {
        begin("X", name);
        sink_.print(",\"tid\":{},\"ts\":{},\"dur\":{},\"args\":{{{}}}}}", track, microseconds(start_ns),
                    microseconds(end_ns - start_ns), args);
    }
    void instant(std::string_view name, std::int64_t ns)
    {
        begin("i", name);
        sink_.print(",\"tid\":{},\"ts\":{},\"s\":\"t\"}}", repetition_track, microseconds(ns));
    }
    void counter(std::string_view name, model::Unit unit, std::int64_t ns, double value)
    {
        begin("C", name);
        sink_.print(",\"ts\":{},\"args\":{{\"{}\":{}}}}}", microseconds(ns),
                    unit == model::Unit::bytes ? "bytes" : "value", number_text(value));
    }

  private:
    void begin(std::string_view kind, std::string_view name)
    {
        sink_.print("{}{{\"ph\":\"{}\",\"name\":{},\"pid\":{}", before_, kind, compact(name), pid_);
        before_ = ",\n";
    }

    TextSink& sink_;
    std::size_t pid_{};
    std::string_view before_;
};

void write_repetitions(Events& events, const Spans& timeline)
{
    events.track_name(repetition_track, "repetitions and points");
    for (const auto& [repetition, span] : timeline) {
        events.span(repetition_track, fmt::format("repetition {}", repetition), span.start_ns, span.end_ns, {});
    }
}

void write_phases(Events& events, const Spans& timeline, const model::CaseReport& report)
{
    std::size_t named_lanes = 0;
    for (const PlacedPhase& placed : placed_phases(timeline, report)) {
        if (placed.lane >= named_lanes) {
            events.track_name(first_phase_track + placed.lane,
                              placed.lane == 0 ? "phases" : fmt::format("phases, overlapping {}", placed.lane));
            named_lanes = placed.lane + 1;
        }
        const model::Phase& phase = *placed.phase;
        const std::string time = std::isfinite(phase.time) ? number_text(phase.time) : "null";
        const std::string args = fmt::format("\"time_s\":{},\"entered\":{},\"minor_faults\":{},\"major_faults\":{}",
                                             time, phase.entered, phase.minor_faults, phase.major_faults);
        events.span(first_phase_track + placed.lane, phase.name, placed.start_ns, placed.end_ns, args);
    }
}

void write_points(Events& events, const Spans& timeline, const model::CaseReport& report)
{
    for (const model::Point& point : report.points) {
        const auto ns = place_on(timeline, point.repetition, point.t);
        if (!ns) {
            continue;
        }
        events.instant(point.name, *ns);
        for (const model::MetricInfo& info : model::point_catalog()) {
            const std::optional<double>* value = model::point_field(point, info.name);
            if (value != nullptr && *value && std::isfinite(**value)) {
                events.counter(info.name, info.unit, *ns, **value);
            }
        }
    }
}

void write_series(Events& events, const Spans& timeline, const model::CaseReport& report)
{
    for (const model::Series& series : report.series) {
        for (std::size_t i = 0; i < std::min(series.t.size(), series.v.size()); ++i) {
            const auto ns = place_on(timeline, series.repetition, series.t[i]);
            if (ns && std::isfinite(series.v[i])) {
                events.counter(series.name, series.unit, *ns, series.v[i]);
            }
        }
    }
}

void write_process(Events& events, const model::CaseReport& report)
{
    const Spans timeline = timeline_of(report);
    events.begin_process(report.id);
    write_repetitions(events, timeline);
    write_phases(events, timeline, report);
    write_points(events, timeline, report);
    write_series(events, timeline, report);
}

void write_facts(TextSink& sink, const std::vector<Fact>& facts)
{
    for (const Fact& fact : facts) {
        sink.print(",\n{}:{}", compact(fact.name), compact(fact.text));
    }
}

}  // namespace

void write_trace(const model::RunReport& report, TextSink& sink)
{
    sink.add("{\"displayTimeUnit\":\"ms\",\n\"traceEvents\":[\n");
    Events events{sink};
    for (const model::CaseReport& one : report.cases) {
        write_process(events, one);
    }
    sink.print("\n],\n\"otherData\":{{\"scenario_name\":{}", compact(report.run.scenario_name));
    write_facts(sink, run_facts(report));
    write_facts(sink, machine_facts(report.machine));
    sink.add("}}\n");
}

}  // namespace memsweep::reporters
