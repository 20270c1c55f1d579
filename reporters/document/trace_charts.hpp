// Charts of a trace: live bytes over time, for all processes together and for each one; the number of blocks by size
// and by lifetime.
#pragma once

#include <string>
#include <vector>

#include "core/trace/summary.hpp"
#include "reporters/document/chart.hpp"

namespace memsweep::reporters {

// Names a process: "1234 python3.11" has its id, and the last program that it ran.
[[nodiscard]] std::string process_label(const trace::ProcessSummary& process);

// Returns the charts of a trace that has allocations.
[[nodiscard]] std::vector<Chart> trace_charts(const trace::TraceSummary& summary);

}  // namespace memsweep::reporters
