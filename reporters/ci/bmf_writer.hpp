// A result in Bencher Metric Format: per case, per measure, the median between the bounds of its 95 % interval.
//
// Units    the metric's; the format has no place for them: they belong to the measure, as set up at Bencher.
// Sources  bencher.dev/docs/reference/bencher-metric-format. A measure is a slug ("wall-time"), a benchmark has a name
//          of at most 1,024 bytes: a longer one is cut.
// Memory   one case, besides what the sink holds.
#pragma once

#include "core/model/report.hpp"
#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

void write_bmf(const model::RunReport& report, TextSink& sink);

}  // namespace memsweep::reporters
