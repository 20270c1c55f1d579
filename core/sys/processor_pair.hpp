// Chooses two equal processors for two programs that are measured at the same time.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "core/sys/topology.hpp"

namespace memsweep::sys {

// Returns two processors on which this process may run. Both have the same kind of core. Their caches have the same
// levels, types and sizes, and are shared by the same number of processors. If several pairs are possible, the
// preference is, in this order: two different cores, the fastest kind of core, two processors of one NUMA node, the
// lowest numbers. Absent: no two processors are equal.
//
// Cost     O(n^2) in the number of processors.
[[nodiscard]] std::optional<std::pair<std::uint32_t, std::uint32_t>> two_of_one_kind(const Topology& topology);

}  // namespace memsweep::sys
