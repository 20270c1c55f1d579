// Tells whether a recording lacks blocks of its process. Compares the recorded blocks with the memory that certainly
// belongs to malloc (core/trace/recorder/heap_pages.hpp).
#pragma once

#include <cstdint>

namespace memsweep::trace {

// An allocator needs less memory than this for itself. So if the memory that certainly belongs to malloc (below: the
// heap) is at most this large, it is no sign of unseen blocks. From a larger heap, this size is subtracted.
inline constexpr std::uint64_t heap_pages_worth_a_word = 4U << 20U;

// True if the heap is larger than twice the peak of live bytes, and also larger than 1.5 times all bytes ever
// allocated. Free memory between blocks may be many times the live bytes, but each of its bytes was once in a block.
// The allocator rounds sizes up by at most a half. Only small blocks may grow by more: a block of one byte may take 64
// bytes. So both comparisons add 64 bytes for each allocation; the second adds them before it multiplies by 1.5.
[[nodiscard]] constexpr bool has_unseen_blocks(std::uint64_t heap_pages_bytes, std::uint64_t peak_live_bytes,
                                               std::uint64_t bytes_allocated, std::uint64_t allocations) noexcept
{
    if (heap_pages_bytes <= heap_pages_worth_a_word) {
        return false;
    }
    const std::uint64_t pages = heap_pages_bytes - heap_pages_worth_a_word;
    return pages / 2 > peak_live_bytes + 32 * allocations && pages / 3 > (bytes_allocated + 64 * allocations) / 2;
}

}  // namespace memsweep::trace
