// A result as Google Benchmark writes its own, for its compare.py and for the many tools that read it.
//
// Units    real_time is `wall_time` and cpu_time is `cpu_time`, in ns and rounded to 0.001 ns; every other metric of a
//          repetition is a counter under its own name, in its own unit.
// Sources  google/benchmark docs/user_guide.md, json_schema_version 1; read by its tools/compare.py 1.7.1.
// Memory   one repetition, besides what the sink holds.
// Errors   none: what has no time is not an entry but in context.memsweep_skipped, since every reader would take the 0
//          in its place for a time.
#pragma once

#include "core/model/report.hpp"
#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

// One entry per repetition and no aggregates: compare.py makes its own, and trackers would draw them as more times.
void write_gbench(const model::RunReport& report, TextSink& sink);

}  // namespace memsweep::reporters
