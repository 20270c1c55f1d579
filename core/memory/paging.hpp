// Brings the pages of a block in, takes them away, or does both by turns for a block that is larger than memory allows.
//
// Units    bytes; requests count in whole pages.
// Sources  madvise(2). A soft trim is MADV_DONTNEED of a shared mapping.
// Cost     populate: a fault per page, inside one system call. All others: the system call; the reads that willneed
//          starts run beside it.
// Errors   `refused`: the kernel does not know the advice, or not for this memory, or has no memory for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/model/paging.hpp"

namespace memsweep::memory {

struct PagesAdvised {
    std::uint64_t bytes{};
    bool refused{};

    PagesAdvised& operator+=(const PagesAdvised& more) noexcept
    {
        bytes += more.bytes;
        refused = refused || more.refused;
        return *this;
    }
};

// Takes the resident pages of a block away. If contents can be lost, it takes only pages that lie wholly inside the
// block; otherwise also pages shared with neighbours, which lose only time. `how` is neither none nor cgroup, which
// knows no blocks.
[[nodiscard]] PagesAdvised trim(void* ptr, std::uint64_t bytes, model::TrimHow how) noexcept;

// Brings the pages of a block in, including those that it shares with its neighbours.
[[nodiscard]] PagesAdvised prefetch(void* ptr, std::uint64_t bytes, model::PrefetchHow how) noexcept;

// How a stream goes through its memory.
struct StreamPlan {
    std::uint64_t chunk_bytes{};
    std::uint64_t ahead{};  // chunks asked for by MADV_WILLNEED before they are used
    bool drop_behind{};     // MADV_PAGEOUT on used chunks: pages of a file leave memory
    bool writes{};          // dropped pages are written to their file first (msync)
};

// Asks for chunks before they are used, and drops them after.
void ask_ahead(std::byte* data, std::uint64_t bytes, std::uint64_t at, const StreamPlan& plan) noexcept;
[[nodiscard]] bool drop_chunk(std::byte* chunk, std::uint64_t bytes, const StreamPlan& plan) noexcept;

// Calls use(address, bytes) for each chunk in turn. Chunks have the plan's length; the last may be shorter. False: a
// chunk could not be dropped.
template <typename Use>
[[nodiscard]] bool stream(std::byte* data, std::uint64_t bytes, const StreamPlan& plan, const Use& use)
{
    bool dropped = true;
    for (std::uint64_t at = 0; at < bytes; at += plan.chunk_bytes) {
        const std::uint64_t length = std::min(plan.chunk_bytes, bytes - at);
        ask_ahead(data, bytes, at, plan);
        use(data + at, length);
        dropped = (!plan.drop_behind || drop_chunk(data + at, length, plan)) && dropped;
    }
    return dropped;
}

}  // namespace memsweep::memory
