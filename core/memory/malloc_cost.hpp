// Measures one malloc with its free in this process, by size, once the allocator has settled.
//
// Units    nanoseconds and minor faults per operation.
// Sources  CLOCK_MONOTONIC over untouched blocks, the fastest of several rounds; getrusage over blocks of which every
//          page is written. A few uncounted operations come first, because allocators adapt to freed blocks.
// Cost     a few milliseconds for small sizes, up to about a second for 128 MiB.
// Threads  alone in its process, since faults are counted for all of it.
#pragma once

#include <cstddef>

#include "core/sys/clock.hpp"

namespace memsweep::memory {

struct MallocCost {
    double ns_per_op{};      // one malloc and free, nothing touched between them
    double faults_per_op{};  // one malloc, a write to every page, and free
};

// Negative costs when the allocator refuses the size.
[[nodiscard]] MallocCost measure_malloc_cost(const sys::Clock& clock, std::size_t bytes);

}  // namespace memsweep::memory
