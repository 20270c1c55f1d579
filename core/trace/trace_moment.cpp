#include "core/trace/trace_moment.hpp"

#include <algorithm>
#include <limits>

#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "core/trace/end_mark.hpp"
#include "core/trace/live_blocks.hpp"

namespace memsweep::trace {
namespace {

std::uint64_t event_of_peak(TraceReader& reader, std::optional<std::uint32_t> process)
{
    BlockWalk walk;
    Event event;
    std::uint64_t events = 0;
    std::uint64_t at_peak = 0;
    while (reader.next(event)) {
        ++events;
        if (process && event.process != *process) {
            continue;
        }
        const std::uint64_t before = walk.peak_live_bytes();
        walk.add(event);
        if (event.kind == EventKind::exec || event.kind == EventKind::process_exit) {
            walk.end_process(event.process, [](const LiveBlock&) {});
        }
        at_peak = walk.peak_live_bytes() > before ? events : at_peak;
    }
    reader.rewind();
    return at_peak;
}

std::uint64_t ticks_at(const FileHeader& header, std::chrono::nanoseconds since_start)
{
    const double ticks = static_cast<double>(since_start.count()) * 1e-9 * static_cast<double>(header.ticks_per_second);
    return static_cast<std::uint64_t>(
        std::min(static_cast<double>(header.start_ticks) + ticks, static_cast<double>(1ULL << 63U)));
}

base::Expected<std::uint64_t> events_until(TraceReader& reader, std::chrono::nanoseconds since_start)
{
    if (reader.header().ticks_per_second == 0) {
        return base::fail(base::ErrorCode::invalid_input,
                          "the trace does not tell the time: name its end, its peak, or a number of events", "--until");
    }
    const std::uint64_t last = ticks_at(reader.header(), since_start);
    Event event;
    std::uint64_t events = 0;
    while (reader.next(event) && event.ticks <= last) {
        ++events;
    }
    reader.rewind();
    return events;
}

}  // namespace

base::Expected<TraceMoment> parse_moment(std::string_view text)
{
    if (text == "end") {
        return TraceEnd{};
    }
    if (text.empty() || text == "exit") {
        return TraceExit{};
    }
    if (text == "peak") {
        return TracePeak{};
    }
    if (const auto events = base::parse_number(text); events && *events > 0) {
        return *events;
    }
    if (const auto time = base::parse_duration(text)) {
        return *time;
    }
    return base::fail(base::ErrorCode::invalid_input,
                      "is no moment: end, exit, peak, a time since the trace began as in 12.5s, or a number of events",
                      std::string{text});
}

bool is_before_exit(TraceReader& reader, const TraceMoment& moment)
{
    return std::holds_alternative<TraceEnd>(moment) ? reader.end_mark().has_value()
                                                    : !std::holds_alternative<TraceExit>(moment);
}

base::Expected<std::uint64_t> events_before(TraceReader& reader, const TraceMoment& moment,
                                            std::optional<std::uint32_t> process)
{
    if (std::holds_alternative<TracePeak>(moment)) {
        return event_of_peak(reader, process);
    }
    if (std::holds_alternative<TraceEnd>(moment)) {
        if (const auto mark = reader.end_mark()) {
            reader.read_until(mark->cut);
        }
    }
    if (const auto* const time = std::get_if<std::chrono::nanoseconds>(&moment)) {
        return events_until(reader, *time);
    }
    const auto* const events = std::get_if<std::uint64_t>(&moment);
    return events == nullptr ? std::numeric_limits<std::uint64_t>::max() : *events;
}

std::uint64_t ticks_of(TraceReader& reader, const TraceMoment& moment, std::uint64_t events_before,
                       std::optional<std::uint32_t> process)
{
    if (const auto* const time = std::get_if<std::chrono::nanoseconds>(&moment)) {
        return ticks_at(reader.header(), *time);
    }
    Event event;
    std::uint64_t ticks = reader.header().start_ticks;
    for (std::uint64_t read = 0; read < events_before && reader.next(event); ++read) {
        ticks = !process || event.process == *process ? event.ticks : ticks;
    }
    reader.rewind();
    return ticks;
}

}  // namespace memsweep::trace
