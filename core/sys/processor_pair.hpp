// Which two processors to give two programs that are measured at the same time.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "core/sys/topology.hpp"

namespace memsweep::sys {

// Two processors that this process may run on and that no program can tell apart: cores of one kind, and caches alike
// in sizes and in the number of processors that share them. Rather of two cores than of one, then of the fastest kind,
// then of one node, then those with the lowest numbers. Empty: there are no two.
//
// Cost     O(n^2) in processors.
[[nodiscard]] std::optional<std::pair<std::uint32_t, std::uint32_t>> two_of_one_kind(const Topology& topology);

}  // namespace memsweep::sys
