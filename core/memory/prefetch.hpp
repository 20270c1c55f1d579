// Brings the pages of a block in, and goes through a block that is larger than what may be resident.
//
// Units    bytes; what is asked for counts in whole pages, those shared with neighbours included.
// Sources  madvise(2).
// Cost     populate: a fault per page, inside one system call; willneed: the system call, what it starts runs beside
//          it.
// Errors   `refused`: the kernel does not know the advice, or not for this memory, or has no memory for it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/model/paging.hpp"

namespace memsweep::memory {

struct Prefetched {
    std::uint64_t bytes{};
    bool refused{};
};

[[nodiscard]] Prefetched prefetch(void* ptr, std::uint64_t bytes, model::PrefetchHow how) noexcept;

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
        const std::uint64_t length = plan.chunk_bytes < bytes - at ? plan.chunk_bytes : bytes - at;
        ask_ahead(data, bytes, at, plan);
        use(data + at, length);
        dropped = (!plan.drop_behind || drop_chunk(data + at, length, plan)) && dropped;
    }
    return dropped;
}

}  // namespace memsweep::memory
