// Measures how much time and how many faults a malloc and a free of one size cost in this process, after a few warm-up
// operations.
//
// Units    nanoseconds and minor faults per operation, which is one malloc and one free.
// Sources  Time: CLOCK_MONOTONIC, with blocks that are not touched; the fastest of several rounds.
//          Faults: getrusage, with blocks whose every page is written.
//          The warm-up is needed because allocators adapt to freed blocks.
// Cost     a few milliseconds for small sizes, up to about a second for 128 MiB.
// Threads  no other thread may run during the measurement, because faults are counted for the whole process.
#pragma once

#include <cstddef>

#include "core/sys/clock.hpp"

namespace memsweep::memory {

struct MallocCost {
    double ns_per_op{};      // of a malloc and a free, with nothing touched between them
    double faults_per_op{};  // of a malloc, a write to every page, and a free
};

// Both costs are -1 if malloc refuses the size.
[[nodiscard]] MallocCost measure_malloc_cost(const sys::Clock& clock, std::size_t bytes);

}  // namespace memsweep::memory
