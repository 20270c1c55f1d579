// The size of a result from which on it is written past the caches. Streaming stores do this; they do not read the
// lines that they overwrite.
//
// Neither a processor's name nor the sizes of its caches tell where that begins to pay. A Xeon with 2 MiB of L2 a core
// and a large shared L3 gained from 2.8 MB on, read and written in all. Another Xeon, with 1 MiB of L2 and 36 MiB of
// L3, took twice the time with 3.2 MB. An EPYC with 16 MiB of L3 for each core took 1.3 times as long with 8 MB, and
// 0.55 to 0.75 times with 24 MB and more; in between, it gained or lost by how the result is written. And a hypervisor
// may show caches that others use too. So both kinds of store are tried on the machine itself.
//
// Units    bytes moved: read and written, together. Seconds.
// Sources  Intel 64 and IA-32 Architectures Optimization Reference Manual, non-temporal stores; glibc's
//          x86_non_temporal_threshold, of the shared cache too (glibc manual, Memory Allocation Tunables).
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/array/cast_table.hpp"
#include "core/sys/clock.hpp"

namespace memsweep::array {

// How a result is written: front to back, or in pieces of at most a few KiB from one input and another.
enum class Writing : bool { front_to_back, in_pieces };

struct StreamingTrial {
    Writing writing{};
    std::uint64_t bytes_moved{};
    double plain_seconds{};
    double streamed_seconds{};
};

inline constexpr std::uint64_t never_streamed = std::numeric_limits<std::uint64_t>::max();

// The sizes if nothing was tried: all that the caches of a processor can hold, L2 and L3 together. `l3_bytes` 0: not
// known, so nothing is streamed.
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

// For each way of writing, the smallest tried size from which every trial was clearly faster. If there is none,
// streaming begins beyond all sizes that were tried, and never below `presumed`.
[[nodiscard]] StreamingSizes streaming_sizes(std::span<const StreamingTrial> trials, std::uint64_t presumed) noexcept;

// Tries both kinds of store on two inputs of data that are joined in both ways, from 2 to 64 MiB in all. The result
// follows its inputs as in a heap, because the place matters. On an EPYC 9005 streaming 8 MB took 1.25 times as long as
// plain stores there, and 0.9 times if each array lay in a mapping of its own. Empty: the table does not stream.
//
// Cost     some 150 ms, and 64 MiB while it lasts.
// Errors   std::bad_alloc.
[[nodiscard]] std::vector<StreamingTrial> try_streaming(const CastTable& table, const sys::Clock& clock);

// Sets the sizes for this process, from now on. Until then it uses presumed_streaming_bytes() of its processor.
// Threads  set before other threads join arrays.
void stream_from(const StreamingSizes& sizes) noexcept;
[[nodiscard]] const StreamingSizes& streams_from() noexcept;

// Whether streaming stores pay for a result. Memory that is not resident yet gets plain stores: pages that the kernel
// has just zeroed lie in the caches, where streaming takes 1.4 times the time.
//
// Cost     a system call for results large enough.
[[nodiscard]] bool pays_to_stream(const CastTable& table, void* out, std::uint64_t out_bytes, std::uint64_t bytes_moved,
                                  Writing writing) noexcept;

}  // namespace memsweep::array
