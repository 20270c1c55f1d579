// What the first write to a page costs, by kind of memory and size of page.
//
// Sources  sys::measure_fault_cost, each of whose calls is one sample; reserved huge pages and memory that nobody has
//          used lately are touched here.
// Cost     about 1.5 s.
// Memory   64 MiB, and one reserved huge page of each size where there is one.
#pragma once

#include <vector>

#include "core/transfer/probe.hpp"

namespace memsweep::transfer {

// "probe_faults/kind=first_touch/pages=4k"
[[nodiscard]] std::vector<model::CaseReport> probe_faults(const ProbeContext& context);

}  // namespace memsweep::transfer
