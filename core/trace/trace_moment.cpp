#include "core/trace/trace_moment.hpp"

#include <algorithm>
#include <limits>

#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "core/trace/end_mark.hpp"
#include "core/trace/live_blocks.hpp"

namespace memsweep::trace {
namespace {

std::uint64_t event_of_peak(TraceReader& reader)
{
    BlockWalk walk;
    Event event;
    std::uint64_t events = 0;
    std::uint64_t at_peak = 0;
    while (reader.next(event)) {
        ++events;
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

base::Expected<std::uint64_t> events_until(TraceReader& reader, std::chrono::nanoseconds since_start)
{
    const FileHeader& header = reader.header();
    if (header.ticks_per_second == 0) {
        return base::fail(base::ErrorCode::invalid_input,
                          "the trace does not tell the time: name its end, its peak, or a number of events", "--until");
    }
    const double ticks = static_cast<double>(since_start.count()) * 1e-9 * static_cast<double>(header.ticks_per_second);
    const auto last = static_cast<std::uint64_t>(
        std::min(static_cast<double>(header.start_ticks) + ticks, static_cast<double>(1ULL << 63U)));
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

base::Expected<std::uint64_t> events_before(TraceReader& reader, const TraceMoment& moment)
{
    if (std::holds_alternative<TracePeak>(moment)) {
        return event_of_peak(reader);
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

}  // namespace memsweep::trace
