#include "reporters/document/trace_charts.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/text/json_parse.hpp"

namespace memsweep::reporters {
namespace {

using trace::Histogram;
using trace::TraceSummary;

constexpr std::string_view live_spec = R"json({
"width": 640, "height": 220,
"data": {"values": []},
"usermeta": {"room": 80},
"params": [{"name": "zoom", "select": {"type": "interval", "encodings": ["x"],
  "zoom": "wheel![event.ctrlKey]"}, "bind": "scales"}],
"mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1.5, "clip": true},
"encoding": {
  "x": {"field": "t", "type": "quantitative", "scale": {"nice": false}},
  "y": {"field": "v", "type": "quantitative"},
  "tooltip": [{"field": "at", "title": "from"}, {"field": "bytes", "title": "live bytes"}]}
})json";

constexpr std::string_view process_spec = R"json({
"width": 640, "height": {"step": 17},
"data": {"values": []},
"usermeta": {"room": 150},
"mark": {"type": "rect", "height": {"band": 0.82}, "style": "heat"},
"encoding": {
  "x": {"field": "from", "type": "quantitative", "scale": {"nice": false}},
  "x2": {"field": "to"},
  "y": {"field": "process", "type": "nominal", "title": null, "axis": {"labelLimit": 130}},
  "fillOpacity": {"field": "v", "type": "quantitative", "scale": {"domainMin": 0, "range": [0.05, 1]},
    "legend": {"orient": "top", "symbolType": "square"}},
  "tooltip": [{"field": "process"}, {"field": "at", "title": "from"}, {"field": "bytes", "title": "live bytes"}]}
})json";

constexpr std::string_view histogram_spec = R"json({
"width": 640, "height": {"step": 17},
"data": {"values": []},
"usermeta": {"room": 150},
"encoding": {
  "x": {"field": "blocks", "type": "quantitative", "title": "blocks (symmetric logarithm)",
    "scale": {"type": "symlog", "constant": 1, "nice": false}, "axis": {"format": ",d"}},
  "y": {"field": "to", "type": "ordinal", "sort": null, "axis": {"grid": true}},
  "tooltip": [{"field": "to", "title": "up to"}, {"field": "text", "title": "blocks"}]},
"layer": [
  {"mark": {"type": "point", "filled": true, "size": 60, "opacity": 1}},
  {"mark": {"type": "text", "style": "value", "align": "left", "dx": 8},
   "encoding": {"text": {"field": "text", "type": "nominal"}}}
]})json";

// Where the steps of a history lie on the axis of time, or of events where the trace tells no time.
class Timeline {
  public:
    explicit Timeline(const TraceSummary& summary) : summary_{&summary}
    {
        const trace::Totals& totals = summary.totals;
        const std::uint64_t ticks = totals.last_ticks - totals.first_ticks;
        if (summary.ticks_per_second != 0 && ticks != 0) {
            seconds_per_tick_ = 1 / static_cast<double>(summary.ticks_per_second);
            unit_ = chart_unit(model::Unit::seconds, static_cast<double>(ticks) * seconds_per_tick_);
        }
    }

    [[nodiscard]] std::size_t size() const { return summary_->live.steps().size(); }
    [[nodiscard]] std::string title() const
    {
        return seconds_per_tick_ == 0 ? std::string{"event"} : fmt::format("time ({})", unit_.name);
    }
    // Where the step begins. Behind the last step: where the trace ends.
    [[nodiscard]] double at(std::size_t step) const
    {
        const auto [event, ticks] =
            step < size() ? summary_->live.steps()[step]
                          : trace::LiveHistory::Step{summary_->totals.events, summary_->totals.last_ticks};
        return seconds_per_tick_ == 0 ? static_cast<double>(event) : seconds(ticks) / unit_.factor;
    }
    [[nodiscard]] std::string text(std::size_t step) const
    {
        const trace::LiveHistory::Step& begin = summary_->live.steps()[step];
        const std::string event = fmt::format("event {}", base::format_count(static_cast<double>(begin.first_event)));
        return seconds_per_tick_ == 0 ? event
                                      : fmt::format("{}, {}", base::format_duration(seconds(begin.ticks)), event);
    }

  private:
    [[nodiscard]] double seconds(std::uint64_t ticks) const
    {
        const std::uint64_t first = summary_->totals.first_ticks;
        return ticks > first ? static_cast<double>(ticks - first) * seconds_per_tick_ : 0;
    }

    const TraceSummary* summary_;
    double seconds_per_tick_{};  // 0: it tells no time
    ChartUnit unit_;
};

Chart live_chart(const TraceSummary& summary, const Timeline& time)
{
    const std::vector<std::uint64_t> live = summary.live.total();
    const ChartUnit unit = chart_unit(model::Unit::bytes, static_cast<double>(summary.totals.peak_live_bytes));
    Json values = Json::array();
    Table table{.title = "Live bytes over time", .columns = {Column::key("from"), Column::number("live bytes")}};
    for (std::size_t step = 0; step < live.size(); ++step) {
        values.push_back({{"t", chart_number(time.at(step))},
                          {"v", chart_number(static_cast<double>(live[step]) / unit.factor)},
                          {"at", time.text(step)},
                          {"bytes", base::format_size(live[step])}});
        table.rows.push_back({{time.text(step)}, {base::format_size(live[step])}});
    }
    values.push_back({{"t", chart_number(time.at(live.size()))},
                      {"v", chart_number(static_cast<double>(live.back()) / unit.factor)}});
    Json spec = json_of(live_spec);
    spec["data"]["values"] = std::move(values);
    spec["encoding"]["x"]["title"] = time.title();
    spec["encoding"]["y"]["title"] = fmt::format("live bytes ({})", unit.name);
    const double top = 1.05 * static_cast<double>(summary.totals.peak_live_bytes) / unit.factor;
    spec["encoding"]["y"]["scale"] = {{"domain", {0, chart_number(top)}}};
    return {.title = "Live bytes over time",
            .about = "What was allocated and not freed: of each stretch of events the most.",
            .spoken = fmt::format("A curve that reaches {}.", base::format_size(summary.totals.peak_live_bytes)),
            .spec = std::move(spec),
            .data = {std::move(table)},
            .long_data = true};
}

constexpr std::size_t most_drawn_processes = 40;

// Those that held the most, in the order in which they began.
std::vector<const trace::ProcessSummary*> drawn_processes(const TraceSummary& summary)
{
    std::vector<const trace::ProcessSummary*> drawn;
    std::ranges::transform(summary.processes, std::back_inserter(drawn), [](const auto& one) { return &one; });
    std::ranges::stable_sort(drawn, std::greater{}, &trace::ProcessSummary::peak_live_bytes);
    drawn.resize(std::min(drawn.size(), most_drawn_processes));
    std::ranges::sort(drawn, {}, &trace::ProcessSummary::first_event);
    return drawn;
}

// A rectangle for each stretch of steps in which a process holds about as much.
void add_stretches(const TraceSummary& summary, const trace::ProcessSummary& process, const Timeline& time,
                   const ChartUnit& unit, Json& values)
{
    constexpr double shades = 24;
    const std::vector<std::uint64_t> live = summary.live.of_process(process.process);
    const double darkest = static_cast<double>(summary.totals.peak_live_bytes);
    const auto shade = [&](std::size_t step) {
        return static_cast<int>(static_cast<double>(live[step]) / darkest * shades);
    };
    const auto& steps = summary.live.steps();
    const auto is_begun = [&](const trace::LiveHistory::Step& step) { return step.first_event <= process.first_event; };
    auto begin = static_cast<std::size_t>(std::ranges::partition_point(steps, is_begun) - steps.begin());
    begin -= begin > 0 ? 1 : 0;
    while (begin < live.size() && steps[begin].first_event <= process.last_event) {
        std::size_t end = begin + 1;
        std::uint64_t most = live[begin];
        while (end < live.size() && steps[end].first_event <= process.last_event && shade(end) == shade(begin)) {
            most = std::max(most, live[end++]);
        }
        values.push_back({{"process", process_label(process)},
                          {"from", chart_number(time.at(begin))},
                          {"to", chart_number(time.at(end))},
                          {"v", chart_number(static_cast<double>(most) / unit.factor)},
                          {"at", time.text(begin)},
                          {"bytes", base::format_size(most)}});
        begin = end;
    }
}

Chart process_chart(const TraceSummary& summary, const Timeline& time)
{
    const auto drawn = drawn_processes(summary);
    const auto largest = *std::ranges::max_element(drawn, {}, &trace::ProcessSummary::peak_live_bytes);
    const ChartUnit unit = chart_unit(model::Unit::bytes, static_cast<double>(largest->peak_live_bytes));
    Json values = Json::array();
    Json labels = Json::array();
    Table table{.title = "Live bytes of each process",
                .columns = {Column::key("process"), Column::number("peak live bytes"), Column::number("at its end")}};
    for (const trace::ProcessSummary* process : drawn) {
        add_stretches(summary, *process, time, unit, values);
        labels.push_back(process_label(*process));
        table.rows.push_back({{process_label(*process)},
                              {base::format_size(process->peak_live_bytes)},
                              {base::format_size(process->end_live_bytes)}});
    }
    Json spec = json_of(process_spec);
    spec["data"]["values"] = std::move(values);
    spec["encoding"]["x"]["title"] = time.title();
    spec["encoding"]["y"]["scale"] = {{"domain", std::move(labels)}};
    spec["encoding"]["fillOpacity"]["title"] = fmt::format("live bytes ({})", unit.name);
    const std::string which = drawn.size() == summary.processes.size()
                                  ? std::string{"All processes"}
                                  : fmt::format("The {} of {} processes that held the most", drawn.size(),
                                                base::format_count(static_cast<double>(summary.processes.size())));
    return {.title = "Live bytes of each process",
            .about = which + ", in the order in which they began: a bar from the first event to the last, the stronger "
                             "its colour, the more is live.",
            .spoken = fmt::format("Bars; the most, {}, was held by {}.", base::format_size(largest->peak_live_bytes),
                                  process_label(*largest)),
            .spec = std::move(spec),
            .data = {std::move(table)}};
}

struct HistogramWords {
    std::string title;
    std::string axis;
    std::string about;
    std::string (*text)(std::uint64_t);
};

// The figures stand in a table of the page already.
Chart histogram_chart(const Histogram& counts, const HistogramWords& words)
{
    Json values = Json::array();
    Json marks = Json::array({0});
    const std::uint64_t largest = *std::ranges::max_element(counts);
    for (std::uint64_t decade = 1; decade < largest * 10; decade *= 10) {
        marks.push_back(decade);
    }
    std::string most;
    for (std::size_t place = 0; place < counts.size(); ++place) {
        if (counts[place] != 0) {
            values.push_back({{"to", words.text(trace::histogram_limit(place))},
                              {"blocks", counts[place]},
                              {"text", base::format_count(static_cast<double>(counts[place]))}});
            most = counts[place] == largest ? words.text(trace::histogram_limit(place)) : most;
        }
    }
    Json spec = json_of(histogram_spec);
    spec["data"]["values"] = std::move(values);
    spec["encoding"]["x"]["axis"]["values"] = std::move(marks);
    spec["encoding"]["x"]["scale"]["domain"] = {0, largest * 3};
    spec["encoding"]["y"]["title"] = words.axis;
    return {.title = words.title,
            .about = words.about + " Each mark of the axis is ten times the last.",
            .spoken = fmt::format("Dots; the most, {} blocks, are of up to {}.",
                                  base::format_count(static_cast<double>(largest)), most),
            .spec = std::move(spec)};
}

std::string lifetime_text(std::uint64_t count)
{
    return base::format_count(static_cast<double>(count));
}

}  // namespace

std::string process_label(const trace::ProcessSummary& process)
{
    const std::size_t last = process.program.rfind(", ");
    const std::string program = last == std::string::npos ? process.program : process.program.substr(last + 2);
    return inert_text(program.empty() ? std::to_string(process.process)
                                      : fmt::format("{} {}", process.process, program));
}

std::vector<Chart> trace_charts(const TraceSummary& summary)
{
    const Timeline time{summary};
    std::vector<Chart> charts;
    charts.push_back(live_chart(summary, time));
    if (summary.processes.size() > 1) {
        charts.push_back(process_chart(summary, time));
    }
    charts.push_back(histogram_chart(summary.sizes, {"Sizes", "bytes of an allocation, up to",
                                                     "How many blocks were that large.", base::format_size}));
    if (summary.totals.frees != 0) {
        charts.push_back(histogram_chart(
            summary.lifetimes, {"Lifetimes", "allocations in between, up to",
                                "How many allocations came between a block's own and its free.", lifetime_text}));
    }
    return charts;
}

}  // namespace memsweep::reporters
