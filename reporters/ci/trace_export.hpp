// Traces as the logs of other tools, for their own replays. What a format cannot say is left out: threads and streams
// in Umpire's, mappings and labels in both. Addresses of different processes and memories are told apart by their top
// byte.
//
// Cost     some 300 ns an event.
// Memory   the live blocks.
#pragma once

#include "core/trace/trace_reader.hpp"
#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

// RMM's logging_resource_adaptor. A realloc is a free and an allocate.
void export_rmm(trace::TraceReader& reader, TextSink& sink);
// Umpire's UMPIRE_REPLAY, of 2022 and later.
void export_umpire(trace::TraceReader& reader, TextSink& sink);

}  // namespace memsweep::reporters
