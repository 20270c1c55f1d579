// The steady clock, by which the age of idle memory and the delay of releases are measured.
//
// Units    nanoseconds.
// Cost     a call reads CLOCK_MONOTONIC: 20 to 40 ns.
#pragma once

#include <chrono>
#include <cstdint>

namespace memsweep::memory {

[[nodiscard]] inline std::int64_t steady_ns() noexcept
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}  // namespace memsweep::memory
