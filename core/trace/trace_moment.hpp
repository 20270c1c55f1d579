// A moment of a trace, as a command line names it: its end, its peak of live bytes, a time since it began, or how many
// of its events come before.
//
// The end is that of the program's work where the trace has a mark of it (end_mark.hpp), and else where the program
// ends, which is also the exit.
//
// A time is found to within the 64 events of a thread that one stamp covers; the others are exact.
//
// Cost     of finding one: the peak, or a time, takes a reading of the trace.
// Errors   invalid_input: no such word, or a time of a trace whose clock is not known.
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

// "end", "exit", "peak", "12.5s", "400092"; empty: the exit.
[[nodiscard]] base::Expected<TraceMoment> parse_moment(std::string_view text);

// Whether the trace may go on behind it.
[[nodiscard]] bool is_before_exit(TraceReader& reader, const TraceMoment& moment);
// How many events of the trace come before it, in the reader's order. `process`: whose peak it is; absent: that of all
// together. The reader is at its first event then and after. Of the end of the work the number is unbounded: from then
// on the reader reads no further.
[[nodiscard]] base::Expected<std::uint64_t> events_before(TraceReader& reader, const TraceMoment& moment,
                                                          std::optional<std::uint32_t> process = {});
// When it was, by the clock of the stamps; of the end, when the last event of `process` was. Takes another reading.
[[nodiscard]] std::uint64_t ticks_of(TraceReader& reader, const TraceMoment& moment, std::uint64_t events_before,
                                     std::optional<std::uint32_t> process = {});

}  // namespace memsweep::trace
