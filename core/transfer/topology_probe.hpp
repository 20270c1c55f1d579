// What this machine has, as facts: processors, caches, nodes, page sizes, pressure. Nothing is timed.
//
// Sources  sys::cpu_topology, sys::numa_nodes, sys::memory_pressure; the result's own `machine` says the rest.
#pragma once

#include <vector>

#include "core/transfer/probe.hpp"

namespace memsweep::transfer {

// "probe_topology/part=machine", ".../part=l3", ".../part=node0", ".../part=pages", ".../part=pressure"
[[nodiscard]] std::vector<model::CaseReport> probe_topology(const ProbeContext& context);

}  // namespace memsweep::transfer
