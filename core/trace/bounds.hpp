// Limits on the memory and time that reading a trace or a log may take. A few KiB of compressed text can name more
// blocks than fit in memory, or take days to read. For such a file, the reader must return an error before it exhausts
// the machine.
//
// A limit is the larger of two values: a fixed amount that every file may use, and a multiple of the file's size.
// Within the fixed amounts, a command needs less than 256 MiB and only some seconds.
#pragma once

#include <algorithm>
#include <cstdint>

namespace memsweep::trace {

struct Bound {
    std::uint64_t of_any{};  // the amount that every file may use
    std::uint64_t times{};   // the multiple of the file's size in bytes

    [[nodiscard]] constexpr std::uint64_t operator()(std::uint64_t file_bytes) const noexcept
    {
        return std::max(of_any, times * file_bytes);
    }
};

// Memory is counted in "things" that a reader keeps at a time. A live block, which takes 32 to 85 bytes in a table, is
// one thing. Larger items count as several.
inline constexpr std::uint64_t held_by_any = 1'500'000;  // the tables of two readers double in size at 1.57 million
inline constexpr std::uint64_t bytes_of_a_thing = 64;    // this many bytes of text count as one thing
inline constexpr std::uint64_t things_of_a_thread = 4;   // a thread, with its share of a process, counts as this many

// Returns the most things that a reader may keep for a log, by the log's size on disk. A line that names a block has at
// least 4 bytes ("+ 0" and a newline, in heaptrack's logs). So a log without compression never exceeds this limit.
[[nodiscard]] constexpr std::uint64_t most_held_by_log(std::uint64_t file_bytes) noexcept
{
    constexpr std::uint64_t bytes_each = 4;
    return std::max(held_by_any, file_bytes / bytes_each);
}

// The largest size of a log after decompression. heaptrack's compressed logs become 10 to 50 times as large, very
// regular logs some hundred times as large. 128 MiB of the shortest lines are imported in 3.3 s (EPYC under KVM).
inline constexpr Bound most_decompressed{.of_any = 128ULL << 20U, .times = 300};

// The most things that a reader may keep for a trace. In this limit and the limits below, the size of a trace is the
// size of its chunks as they are stored. The most regular recording, a loop that keeps blocks of one size, has 15 live
// blocks for each stored byte.
inline constexpr Bound most_held_by_trace{.of_any = held_by_any, .times = 24};

// The most events of a trace that is kept in memory as a whole, for a fit or a replay. An event takes 40 bytes, in
// lists that grow by doubling.
inline constexpr Bound most_events_held{.of_any = 4ULL << 20U, .times = 64};

// The largest size of a trace's chunks after decompression. Every trace may have 100 million events of 2 bytes.
inline constexpr Bound most_unpacked{.of_any = 192ULL << 20U, .times = 256};

// The largest size of all chunks that are open at the same time, one per thread. memsweep writes chunks of up to 256
// KiB.
inline constexpr Bound most_open_bytes{.of_any = 64ULL << 20U, .times = 16};

inline constexpr std::uint64_t most_facts_bytes = 4U << 20U;     // facts of a trace; memsweep writes up to 2 x 1 MiB
inline constexpr std::uint64_t most_searched_bytes = 1U << 30U;  // damaged bytes to search for a chunk, at 1 GB/s
inline constexpr std::uint64_t most_piped_bytes = 1U << 30U;     // largest trace from a pipe; a file may be larger

}  // namespace memsweep::trace
