// The exact counters of one stack of resources. Standard-layout, so that it can lie in memory shared with the
// process that watches.
//
// Threads  every field is an independent relaxed atomic; a reader sees each field exactly, not all at one instant.
// Cost     about 5 ns per locked addition on current x86-64 when nobody contends.
#pragma once

#include <atomic>
#include <cstdint>

namespace memsweep::memory {

struct Counters {
    std::atomic<std::uint64_t> allocations{0};  // granted
    std::atomic<std::uint64_t> deallocations{0};
    std::atomic<std::uint64_t> refusals{0};
    std::atomic<std::uint64_t> allocated_bytes{0};  // gross, since the start
    std::atomic<std::uint64_t> live_bytes{0};       // acquired minus released
    std::atomic<std::uint64_t> live_bytes_peak{0};
};

}  // namespace memsweep::memory
