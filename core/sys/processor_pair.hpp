// Chooses two equal processors for two programs that are measured at the same time.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "core/sys/topology.hpp"

namespace memsweep::sys {

// Two processors on which this process may run. They have the same kind of core. Their caches have the same sizes, and
// equally many processors share them. The order of preference is: two different cores, the fastest kind of
// core, two processors of one NUMA node, the lowest numbers. Absent: no two processors are equal.
//
// Cost     O(n^2) in the number of processors.
[[nodiscard]] std::optional<std::pair<std::uint32_t, std::uint32_t>> two_of_one_kind(const Topology& topology);

}  // namespace memsweep::sys
