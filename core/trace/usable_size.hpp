// The usable size of a block of glibc's malloc, computed from the requested size by glibc's rules, without asking
// glibc. Other allocators are asked during the recording, and the trace holds their answers (program_notes.hpp).
//
// A block lies in a chunk whose size is a multiple of 16 bytes, at least 32. Of these bytes 8 are glibc's. The block
// may be cut from a larger free chunk. If too little of the free chunk would be left, the block gets the rest too:
// up to 16 bytes, or up to 32 bytes if an alignment was requested. A block with a mapping of its own takes whole
// pages; 16 of these bytes are glibc's. Source: malloc.c of glibc 2.36, 64 bits.
//
// Units    bytes.
// Cost     some ns.
// Threads  any.
#pragma once

#include <algorithm>
#include <cstdint>

namespace memsweep::trace {

struct UsableRange {
    std::uint64_t least{};
    std::uint64_t most{};
    friend bool operator==(const UsableRange&, const UsableRange&) = default;
};

namespace glibc {

inline constexpr std::uint64_t chunk_step = 16;
inline constexpr std::uint64_t smallest_chunk = 32;
inline constexpr std::uint64_t header = 8;  // a block also uses the first 8 bytes of the next chunk
inline constexpr std::uint64_t mapped_header = 16;
inline constexpr std::uint64_t most_size = UINT64_MAX / 4;

[[nodiscard]] constexpr std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t step) noexcept
{
    return (bytes + step - 1) / step * step;
}

[[nodiscard]] constexpr std::uint64_t chunk_bytes(std::uint64_t size) noexcept
{
    return std::max(rounded_up(std::min(size, most_size) + header, chunk_step), smallest_chunk);
}

// Returns the range of the possible answers of malloc_usable_size for a block in a heap. `alignment`: 16 or less
// means that none was requested.
[[nodiscard]] constexpr UsableRange usable_in_heap(std::uint64_t size, std::uint64_t alignment = 0) noexcept
{
    const std::uint64_t least = chunk_bytes(size) - header;
    const bool is_aligned = alignment > chunk_step;
    return {least, least + (is_aligned ? smallest_chunk : smallest_chunk - chunk_step)};
}

// Returns the range of the possible answers of malloc_usable_size for a block with a mapping of its own. By default, a
// block gets its own mapping from M_MMAP_THRESHOLD bytes on. The block begins 16 bytes after the start of a page; an
// aligned block may begin anywhere in its mapping. In both cases, the usable size reaches to the mapping's end.
[[nodiscard]] constexpr UsableRange usable_in_mapping(std::uint64_t size, std::uint64_t page_bytes,
                                                      std::uint64_t alignment = 0) noexcept
{
    if (alignment <= chunk_step) {
        const std::uint64_t bytes = rounded_up(chunk_bytes(size) + header, page_bytes) - mapped_header;
        return {bytes, bytes};
    }
    const std::uint64_t most = rounded_up(chunk_bytes(size) + alignment + smallest_chunk + chunk_step, page_bytes);
    return {std::min(size, most_size), most - mapped_header};
}

}  // namespace glibc

}  // namespace memsweep::trace
