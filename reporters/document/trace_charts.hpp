// Charts of a trace: live bytes over time, for all processes together and for each one; the number of blocks by size
// and by lifetime.
#pragma once

#include <string>
#include <vector>

#include "core/trace/summary.hpp"
#include "reporters/document/chart.hpp"

namespace memsweep::reporters {

// "1234 python3.11": the last program of the process.
[[nodiscard]] std::string process_label(const trace::ProcessSummary& process);

// The charts of a trace with allocations.
[[nodiscard]] std::vector<Chart> trace_charts(const trace::TraceSummary& summary);

}  // namespace memsweep::reporters
