// Bounds on what a trace or a log may ask for. A few compressed KiB can name more blocks than any memory holds, and go
// on for days. A hostile file shall end in an error instead of an exhausted machine.
//
// Each bound is the larger of two. Any file may ask for a fixed amount, however small the file is: that keeps a command
// below 256 MiB and some seconds. A larger file may ask for a multiple of its own size.
#pragma once

#include <algorithm>
#include <cstdint>

namespace memsweep::trace {

struct Bound {
    std::uint64_t of_any{};  // any file may ask for so much, however small it is
    std::uint64_t times{};   // so many times the file's own bytes

    [[nodiscard]] constexpr std::uint64_t operator()(std::uint64_t file_bytes) const noexcept
    {
        return std::max(of_any, times * file_bytes);
    }
};

// Things that may be held at a time. A live block, of 32 to 85 bytes in a table, is one thing; what takes more memory
// counts as several.
inline constexpr std::uint64_t held_by_any = 1'500'000;  // the tables of two readers double at 1.57 million
inline constexpr std::uint64_t bytes_of_a_thing = 64;    // so many bytes of text count as one thing
inline constexpr std::uint64_t things_of_a_thread = 4;   // with its share of a process

// The most things that a log may hold, by its size on disk. A line that names a block has at least 4 bytes ("+ 0" of
// heaptrack), so a log that is not compressed never meets the bound.
[[nodiscard]] constexpr std::uint64_t most_held_by_log(std::uint64_t file_bytes) noexcept
{
    constexpr std::uint64_t bytes_each = 4;
    return std::max(held_by_any, file_bytes / bytes_each);
}

// The size of a log after decompression. Compressed logs of heaptrack grow to 10 to 50 times their size, very regular
// ones to some hundred times. 128 MiB of the shortest lines are imported in 3.3 s (EPYC under KVM).
inline constexpr Bound most_decompressed{.of_any = 128ULL << 20U, .times = 300};

// This bound and all that follow go by the bytes of a trace's chunks. The most regular recording, a loop that keeps
// blocks of one size, holds 15 blocks for each byte.
inline constexpr Bound most_held_by_trace{.of_any = held_by_any, .times = 24};

// Events of a trace that is held whole, as for a fit or a replay: 40 bytes each, in lists that grow by doubling.
inline constexpr Bound most_events_held{.of_any = 4ULL << 20U, .times = 64};

// The size of a trace's chunks after decompression. At 2 bytes an event, any trace may have 100 million events.
inline constexpr Bound most_unpacked{.of_any = 192ULL << 20U, .times = 256};

// Chunks that are open at the same time, one of each thread. The chunks that memsweep writes have 256 KiB at most.
inline constexpr Bound most_open_bytes{.of_any = 64ULL << 20U, .times = 16};

inline constexpr std::uint64_t most_facts_bytes = 4U << 20U;     // in a trace: a recorder writes 1 MiB, twice
inline constexpr std::uint64_t most_searched_bytes = 1U << 30U;  // for the chunks behind damaged ones, at 1 GB/s
inline constexpr std::uint64_t most_piped_bytes = 1U << 30U;     // a trace from a pipe; a file may be larger

}  // namespace memsweep::trace
