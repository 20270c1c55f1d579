// Where the pages of a block are: brought in, taken away, or both by turns for a block that is larger than what may be
// resident.
//
// Units    bytes; what is asked for counts in whole pages.
// Sources  madvise(2). A soft trim is MADV_DONTNEED of a shared mapping.
// Cost     populate: a fault per page, inside one system call; all others: the system call, what willneed starts runs
//          beside it.
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

// Takes the resident pages of a block away. Where contents can be lost, only pages that lie wholly inside the block;
// otherwise also those that it shares with its neighbours, which lose nothing but time. `how` is neither none nor
// cgroup, which knows no blocks.
[[nodiscard]] PagesAdvised trim(void* ptr, std::uint64_t bytes, model::TrimHow how) noexcept;

// Brings them in, those shared with neighbours included.
[[nodiscard]] PagesAdvised prefetch(void* ptr, std::uint64_t bytes, model::PrefetchHow how) noexcept;

// How a stream goes through its memory.
struct StreamPlan {
    std::uint64_t chunk_bytes{};
    std::uint64_t ahead{};  // chunks asked for by MADV_WILLNEED before they are used
    bool drop_behind{};     // MADV_PAGEOUT on what has been used: pages of a file leave memory
    bool writes{};          // what is dropped is written to its file first (msync)
};

// What a chunk needs before it is used, and gives up after.
void ask_ahead(std::byte* data, std::uint64_t bytes, std::uint64_t at, const StreamPlan& plan) noexcept;
[[nodiscard]] bool drop_chunk(std::byte* chunk, std::uint64_t bytes, const StreamPlan& plan) noexcept;

// use(address, bytes) for each chunk in turn, whose length is that of the plan, the last one's less. False: what should
// have been dropped could not be.
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
