// The sizes of a pool's classes, and what a request takes of a pool.
//
// Units    bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/pool_spec.hpp"

namespace memsweep::model {

// The sizes of a scheme up to the first that holds `largest`, without a pool's bounds; empty for exact.
[[nodiscard]] std::vector<std::uint64_t> class_sizes(ClassScheme scheme, double factor, std::uint64_t largest);

// The block that a pool gives for a request: its class; without one, or past the pool, the request itself.
[[nodiscard]] std::uint64_t served_bytes(const PoolSpec& pool, std::uint64_t bytes);

}  // namespace memsweep::model
