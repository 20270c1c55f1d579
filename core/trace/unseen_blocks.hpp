// Decides whether a recording can have seen all that its process did. It compares the memory that can only be blocks
// (recorder/heap_pages.hpp) with the blocks that were recorded.
#pragma once

#include <cstdint>

namespace memsweep::trace {

// An allocator needs less than this beside its blocks, so less is no sign of unseen blocks.
inline constexpr std::uint64_t heap_pages_worth_a_word = 4U << 20U;

// Whether the heap holds more than twice the most that was live, and more than all that was ever asked for. Holes
// between blocks may be many times what is live, but each was a block once. An allocator's rounding adds at most
// another half. Its smallest block with a header is 64 bytes, even for a block of one byte.
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
