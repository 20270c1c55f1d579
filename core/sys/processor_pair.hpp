// Chooses two processors for two programs that are measured at the same time.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "core/sys/topology.hpp"

namespace memsweep::sys {

// Two processors that this process may run on and that no program can tell apart: cores of one kind, with caches alike
// in sizes and in the number of processors that share them. Two cores are preferred to one, then the fastest kind, then
// one node, then the lowest numbers. Empty: there are no two.
//
// Cost     O(n^2) in processors.
[[nodiscard]] std::optional<std::pair<std::uint32_t, std::uint32_t>> two_of_one_kind(const Topology& topology);

}  // namespace memsweep::sys
