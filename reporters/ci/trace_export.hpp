// Writes traces as logs of other tools, so that these tools can replay them. What a log cannot express is left out:
// threads and streams in Umpire's, mappings and labels in both. Addresses of different processes and memories get
// different top bytes. Blocks that a process holds at its end are freed before the trace's next event, if there is one.
//
// Cost     some 300 ns an event.
// Memory   the live blocks.
// Errors   invalid_input, naming the trace: an event would raise the live bytes beyond 64 bits. No log can hold such an
//          event, and importers refuse it. The text ends before it.
#pragma once

#include <string>

#include "core/base/expected.hpp"
#include "core/trace/trace_reader.hpp"
#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

// RMM's logging_resource_adaptor. A realloc becomes a free and an allocate.
[[nodiscard]] base::Expected<void> export_rmm(trace::TraceReader& reader, TextSink& sink, const std::string& name);
// Umpire's UMPIRE_REPLAY, of 2022 and later.
[[nodiscard]] base::Expected<void> export_umpire(trace::TraceReader& reader, TextSink& sink, const std::string& name);

}  // namespace memsweep::reporters
