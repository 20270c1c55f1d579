// A fleet as CSV: host,scenario,case,metric,unit,better,n,median,mad,z,q,verdict, a row per host and quantity.
#pragma once

#include "reporters/document/fleet_report.hpp"
#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

void write_csv(const FleetReport& report, TextSink& sink);

}  // namespace memsweep::reporters
