// The hosts that are not well, as NDJSON: {"host","healthy":false,"evidence":[...]}, a line per bad or missing host;
// nothing where all are well.
#pragma once

#include "reporters/document/fleet_report.hpp"
#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

void write_health(const FleetReport& report, TextSink& sink);

}  // namespace memsweep::reporters
