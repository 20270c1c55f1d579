// How long a load takes: by the size of the working set and the size of its pages, with several chains in flight, and
// while the other processors stream.
//
// Sources  one thread, pinned, on chains of random order within groups of pages (chase.hpp); the memory is of one
//          mapping per page size, touched before.
// Cost     about 4 s by default, half of it for building the chains.
// Memory   the largest set: 256 MiB, or less where the budget is smaller.
#pragma once

#include <vector>

#include "core/transfer/probe.hpp"
#include "core/transfer/working_set.hpp"

namespace memsweep::transfer {

// "probe_latency/pages=thp/size=65536", "probe_parallel_loads/chains=4", "probe_loaded_latency/load=50".
[[nodiscard]] std::vector<model::CaseReport> probe_latency(const ProbeContext& context);

// Of the sets on huge pages, or on base pages where there are none: what effective_cache_bytes() judges.
[[nodiscard]] std::vector<SetLatency> latencies_by_size(const std::vector<model::CaseReport>& cases);

}  // namespace memsweep::transfer
