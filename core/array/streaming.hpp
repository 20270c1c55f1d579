// Determines from which size on a result is written with streaming (non-temporal) stores. Streaming stores bypass the
// caches and do not read the lines that they overwrite.
//
// Neither the processor's name nor its cache sizes tell from which size on streaming pays. Measurements on three
// processors showed that. A size below is the number of bytes read plus bytes written; times are compared with those of
// plain stores:
// - On a Xeon with 2 MiB of L2 per core and a large shared L3, streaming was faster from 2.8 MB on.
// - On a Xeon with 1 MiB of L2 and 36 MiB of L3, streaming took twice the time at 3.2 MB.
// - On an EPYC with 16 MiB of L3 per core, streaming took 1.3 times the time at 8 MB, and 0.55 to 0.75 times the time
//   from 24 MB on. Between 8 and 24 MB, the ratio depended on the way of writing (see Writing).
//
// Besides, a hypervisor may report caches that are shared with other guests. For both reasons, both kinds of stores are
// tried on the machine itself.
//
// Units    bytes moved, that is, read plus written; seconds.
// Sources  Intel 64 and IA-32 Architectures Optimization Reference Manual, non-temporal stores; glibc's
//          x86_non_temporal_threshold, which also depends on the shared cache (glibc manual, Tunables).
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/array/cast_table.hpp"
#include "core/sys/clock.hpp"

namespace memsweep::array {

// How a result is written: front to back, or in pieces of at most a few KiB that alternate between the inputs.
enum class Writing : bool { front_to_back, in_pieces };

struct StreamingTrial {
    Writing writing{};
    std::uint64_t bytes_moved{};
    double plain_seconds{};
    double streamed_seconds{};
};

inline constexpr std::uint64_t never_streamed = std::numeric_limits<std::uint64_t>::max();

// Returns the size to use if nothing was tried: the sum of the L2 and L3 cache sizes. If `l3_bytes` is 0 (not known),
// the result is never_streamed.
[[nodiscard]] std::uint64_t presumed_streaming_bytes(std::uint64_t l2_bytes, std::uint64_t l3_bytes) noexcept;

struct StreamingSizes {
    std::uint64_t front_to_back{};
    std::uint64_t in_pieces{};

    [[nodiscard]] std::uint64_t of(Writing writing) const noexcept
    {
        return writing == Writing::in_pieces ? in_pieces : front_to_back;
    }
    friend bool operator==(const StreamingSizes&, const StreamingSizes&) = default;
};

// For each way of writing, returns the smallest tried size from which on streaming was clearly faster in every trial.
// If there is no such size, returns a size that is greater than all tried sizes and at least `presumed`.
[[nodiscard]] StreamingSizes streaming_sizes(std::span<const StreamingTrial> trials, std::uint64_t presumed) noexcept;

// Times both kinds of stores: joins two inputs in both ways of writing, with 2 to 64 MiB moved. The joined array lies
// directly behind its inputs in memory, as in a heap, because its address matters: on an EPYC 9005, streaming 8 MB to
// an array directly behind its inputs took 1.25 times as long as plain stores; if each array had its own mapping, it
// took only 0.9 times as long. Returns no trials if the table has no streaming loops.
//
// Cost     some 150 ms; 64 MiB of memory meanwhile.
// Errors   std::bad_alloc.
[[nodiscard]] std::vector<StreamingTrial> try_streaming(const CastTable& table, const sys::Clock& clock);

// Sets the sizes from which on this process streams. Before the first call, both are presumed_streaming_bytes() of its
// processor.
// Threads  call it before other threads join arrays.
void stream_from(const StreamingSizes& sizes) noexcept;
[[nodiscard]] const StreamingSizes& streams_from() noexcept;

// Says whether a result should be written with streaming stores. Memory that is not resident yet gets plain stores: the
// kernel zeroes its pages just before they are written, so the pages are in the caches, and streaming would take 1.4
// times as long as plain stores.
//
// Cost     one system call if the result is large enough to stream.
[[nodiscard]] bool pays_to_stream(const CastTable& table, void* out, std::uint64_t out_bytes, std::uint64_t bytes_moved,
                                  Writing writing) noexcept;

}  // namespace memsweep::array
