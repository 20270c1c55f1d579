// A moment of a trace, as a command line names it: the end of the work, the program's exit, the peak of live bytes, or
// a time or a number of events since the beginning.
//
// "exit" is the end of the program. "end" is the end of the program's work, if the trace marks it (end_mark.hpp);
// otherwise "end" means the exit.
//
// A time is exact to within 64 events of a thread, because one stamp covers up to 64 events. The other moments are
// exact.
//
// Cost     finding the peak or a time reads the trace once.
// Errors   invalid_input: the text names no moment, or names a time but the trace's clock is not known.
// Threads  one.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/base/expected.hpp"
#include "core/trace/trace_reader.hpp"

namespace memsweep::trace {

struct TraceEnd {};
struct TraceExit {};
struct TracePeak {};
using TraceMoment = std::variant<TraceEnd, TraceExit, TracePeak, std::chrono::nanoseconds, std::uint64_t>;

// Reads a moment, such as "end", "exit", "peak", "12.5s" (a time) or "400092" (a number of events). An empty text means
// the exit.
[[nodiscard]] base::Expected<TraceMoment> parse_moment(std::string_view text);

// Whether the trace may have events after the moment.
[[nodiscard]] bool is_before_exit(TraceReader& reader, const TraceMoment& moment);
// Returns the number of events up to the moment, in the reader's order. `process` is the process whose peak is meant;
// nullopt means the peak of all processes together. The reader must be at its first event, and is there again after the
// call.
//
// For "exit" and "end" the number is UINT64_MAX. If the moment is "end" and the trace marks the end of the work, the
// reader stops at this mark from now on (TraceReader::read_until).
[[nodiscard]] base::Expected<std::uint64_t> events_before(TraceReader& reader, const TraceMoment& moment,
                                                          std::optional<std::uint32_t> process = {});
// Returns the time of the moment in ticks of the stamps' clock. If the moment is not given as a time, reads the trace
// once more, and returns the time of the last event before the moment. If `process` is given, only events of this
// process count.
[[nodiscard]] std::uint64_t ticks_of(TraceReader& reader, const TraceMoment& moment, std::uint64_t events_before,
                                     std::optional<std::uint32_t> process = {});

}  // namespace memsweep::trace
