// nvbandwidth's JSON (NVIDIA, `nvbandwidth --json`), so that what reads its files reads a probe's.
//
// Units    bandwidth in GB/s (1e9 bytes), latency in ns; cells of a matrix are texts of six significant digits, "N/A"
//          where there is none; sum, min, max and average are numbers over the cells that are there.
// Sources  its json_output.cpp. Cases that it has no name for get one of our own; where a case's status is no word of
//          its, it is Waived (skipped) or Error, with the reason in `error`.
#pragma once

#include "core/model/report.hpp"
#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

void write_nvbandwidth(const model::RunReport& report, TextSink& sink);

}  // namespace memsweep::reporters
