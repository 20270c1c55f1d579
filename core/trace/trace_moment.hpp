// A moment of a trace, as a command line names it: the end, the peak of live bytes, a time since the beginning, or a
// number of events before it.
//
// The end is the end of the program's work, if the trace has a mark of it (end_mark.hpp). Else it is the exit, where
// the program ends.
//
// A time is found to within the 64 events of a thread that one stamp covers. The other moments are exact.
//
// Cost     to find the peak, or a time, takes a reading of the trace.
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

// Whether the trace may go on behind the moment.
[[nodiscard]] bool is_before_exit(TraceReader& reader, const TraceMoment& moment);
// How many events of the trace come before the moment, in the reader's order. `process`: the process whose peak is
// meant; absent: the peak of all together. The reader is at its first event before and after. For the end of the work
// the number is unbounded; instead, the reader reads no further from then on.
[[nodiscard]] base::Expected<std::uint64_t> events_before(TraceReader& reader, const TraceMoment& moment,
                                                          std::optional<std::uint32_t> process = {});
// The moment by the clock of the stamps. For the end, the time of the last event of `process`. Takes another reading.
[[nodiscard]] std::uint64_t ticks_of(TraceReader& reader, const TraceMoment& moment, std::uint64_t events_before,
                                     std::optional<std::uint32_t> process = {});

}  // namespace memsweep::trace
