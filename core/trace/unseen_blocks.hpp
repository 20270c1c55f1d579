// Whether a recording can have seen what its process did: the pages that are nothing but blocks
// (recorder/heap_pages.hpp) against the blocks that were recorded.
#pragma once

#include <cstdint>

namespace memsweep::trace {

// An allocator needs less than this beside its blocks; what it keeps of a little is no sign.
inline constexpr std::uint64_t heap_pages_worth_a_word = 4U << 20U;

// Whether the heap holds more than twice what was live at most, and more than all that was ever asked for. Holes
// between blocks may be many times what is live, but each was a block once. An allocator's rounding is at most another
// half; its least block and a header are 64 bytes, also of a block of one byte.
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
