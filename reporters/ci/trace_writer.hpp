// A result as Chrome trace events, for Perfetto and chrome://tracing.
//
// A case is a process; its repetitions follow each other with a gap, whenever they really ran, so that the same case's
// phases (X), curves (C) and named points (i) share one axis. Phases that overlap lie on tracks of their own.
//
// Units    `ts` and `dur` in microseconds, counters in the unit of their quantity.
// Sources  "Trace Event Format", the four kinds of event that Perfetto imports without a loss: M, X, C and i.
// Memory   the phases of one case, besides what the sink holds.
// Errors   none: what has no finite time or value is left out.
#pragma once

#include "core/model/report.hpp"
#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

void write_trace(const model::RunReport& report, TextSink& sink);

}  // namespace memsweep::reporters
