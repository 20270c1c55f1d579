// Tells whether a recording lacks blocks of its process. Compares the memory that can only hold blocks
// (recorder/heap_pages.hpp) with the recorded blocks.
#pragma once

#include <cstdint>

namespace memsweep::trace {

// An allocator needs less than this for itself. So a heap of up to this size is no sign of unseen blocks.
inline constexpr std::uint64_t heap_pages_worth_a_word = 4U << 20U;

// True if the heap is both more than twice the peak of live bytes and more than 1.5 times all bytes ever allocated.
// Free memory between blocks may be many times the live bytes, but each byte of it was in a block once. Rounding by the
// allocator adds at most half to a block. A block of one byte may take 64 bytes, so each allocation counts 64 bytes
// more.
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
