// The steady clock of everything that waits for its release, in nanoseconds.
//
// Cost     one read of CLOCK_MONOTONIC, 20 to 40 ns.
#pragma once

#include <chrono>
#include <cstdint>

namespace memsweep::lifetime {

[[nodiscard]] inline std::int64_t steady_ns() noexcept
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

// Keeps the processor busy: what a collection's pause or a finalizer's work does to the thread that pays for it.
inline void spin_for(std::uint64_t duration_ns) noexcept
{
    if (duration_ns != 0) {
        const std::int64_t end = steady_ns() + static_cast<std::int64_t>(duration_ns);
        while (steady_ns() < end) {
        }
    }
}

}  // namespace memsweep::lifetime
