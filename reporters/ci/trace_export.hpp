// Traces as the logs of other tools, for their own replays. What a format cannot say is left out: threads and streams
// in Umpire's, mappings and labels in both. Addresses of different processes and memories are told apart by their top
// byte. What a process holds when it ends is freed before the next event, if there is one.
//
// Cost     some 300 ns an event.
// Memory   the live blocks.
// Errors   invalid_input, naming the trace: an event whose block takes what is live beyond 64 bits. No log can hold
//          such an event, and importers refuse it: the text ends before it.
#pragma once

#include <string>

#include "core/base/expected.hpp"
#include "core/trace/trace_reader.hpp"
#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

// RMM's logging_resource_adaptor. A realloc is a free and an allocate.
[[nodiscard]] base::Expected<void> export_rmm(trace::TraceReader& reader, TextSink& sink, const std::string& name);
// Umpire's UMPIRE_REPLAY, of 2022 and later.
[[nodiscard]] base::Expected<void> export_umpire(trace::TraceReader& reader, TextSink& sink, const std::string& name);

}  // namespace memsweep::reporters
