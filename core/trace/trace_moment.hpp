// A moment of a trace, as a command line names it: its end, its peak of live bytes, a time since it began, or how many
// of its events come before.
//
// A time is found to within the 64 events of a thread that one stamp covers; the others are exact.
//
// Cost     of finding one: the peak, or a time, takes a reading of the trace.
// Errors   invalid_input: no such word, or a time of a trace whose clock is not known.
// Threads  one.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "core/base/expected.hpp"
#include "core/trace/trace_reader.hpp"

namespace memsweep::trace {

struct TraceEnd {};
struct TracePeak {};
using TraceMoment = std::variant<TraceEnd, TracePeak, std::chrono::nanoseconds, std::uint64_t>;

// "end", "peak", "12.5s", "400092"; empty: the end.
[[nodiscard]] base::Expected<TraceMoment> parse_moment(std::string_view text);

// How many events of the trace come before it, in the reader's order. The reader is at its first event then and after.
[[nodiscard]] base::Expected<std::uint64_t> events_before(TraceReader& reader, const TraceMoment& moment);

}  // namespace memsweep::trace
