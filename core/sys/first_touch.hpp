// Whether this machine's memory is warm: what the first touch of fresh memory costs, against touching it again after
// giving it back. A guest that has not used memory yet, or has returned it to its host, must first get it from there.
//
// Units    seconds per page.
// Sources  private anonymous memory without huge pages, in chunks that are all kept until the end, so that each is
//          served from memory that the one before did not have.
// Memory   up to `most_bytes` resident while it measures, none afterwards.
// Errors   os: no memory can be mapped at all.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "core/base/expected.hpp"
#include "core/sys/clock.hpp"

namespace memsweep::sys {

inline constexpr std::uint64_t touched_chunk_bytes = 8U << 20;

struct TouchedChunk {
    double first_seconds{};  // first touch of a page
    double again_seconds{};  // touch of a page that this process has just given back
};

// Ends early when `most_time` has passed.
[[nodiscard]] base::Expected<std::vector<TouchedChunk>>
measure_first_touch(const Clock& clock, std::uint64_t most_bytes, std::chrono::nanoseconds most_time);

}  // namespace memsweep::sys
