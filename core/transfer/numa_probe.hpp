// Every pair of processors' node and memory's node: read, write, copy and latency. Works with one node, whose only pair
// it then is; a node without processors has a column and no row, one without memory a row and no column.
//
// Sources  memory bound by mbind before its first touch, and proven by move_pages; kernels by all processors of a node.
// Cost     about 0.6 s a pair.
// Memory   three arrays of 64 MiB, or of the size given, on one node at a time; less where the budget or the node is
//          smaller.
#pragma once

#include <optional>
#include <vector>

#include "core/transfer/probe.hpp"

namespace memsweep::transfer {

// "probe_numa/cpu_node=0/kernel=copy/mem_node=1"
[[nodiscard]] std::vector<model::CaseReport> probe_numa(const ProbeContext& context,
                                                        std::optional<std::uint64_t> effective_cache);

}  // namespace memsweep::transfer
