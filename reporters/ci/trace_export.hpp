// Writes traces as logs of other tools, so that these tools can replay them. What a log cannot express is left out,
// such as mappings and labels. RMM's log also lacks external blocks, copies and moves; Umpire's also lacks threads,
// streams and failed allocations. The addresses of each process and each memory get a top byte of their own, so that no
// two blocks have the same address. If a process still holds blocks when it ends, the log frees them before the trace's
// next event. Blocks that are live at the end of the trace are not freed.
//
// Cost     some 300 ns an event.
// Memory   the live blocks.
// Errors   invalid_input, with the trace's name, if an event would raise the live bytes beyond 64 bits. No log can hold
//          such an event, and importers refuse it. The exported text ends before this event.
#pragma once

#include <string>

#include "core/base/expected.hpp"
#include "core/trace/trace_reader.hpp"
#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

// Writes the log format of RMM's logging_resource_adaptor. A realloc becomes a free and an allocate.
[[nodiscard]] base::Expected<void> export_rmm(trace::TraceReader& reader, TextSink& sink, const std::string& name);
// Writes the log format of Umpire's UMPIRE_REPLAY, as in Umpire of 2022 and later.
[[nodiscard]] base::Expected<void> export_umpire(trace::TraceReader& reader, TextSink& sink, const std::string& name);

}  // namespace memsweep::reporters
