// Makes the pages of a block resident (prefetch), removes them (trim), or streams through a block that is larger than
// the available memory.
//
// Units    bytes, counted in whole pages.
// Sources  madvise(2). TrimHow::soft uses MADV_DONTNEED on a shared mapping, whose contents stay in the page cache.
// Cost     one system call. With populate_read or populate_write, it faults in every page. With willneed, the call only
//          starts reads, which run in the background.
// Errors   `refused`: the kernel does not support the advice at all or for this kind of memory, or has too little
//          memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/model/paging.hpp"

namespace memsweep::memory {

struct PagesAdvised {
    std::uint64_t bytes{};  // whole pages for which the kernel took the advice
    bool refused{};

    PagesAdvised& operator+=(const PagesAdvised& more) noexcept
    {
        bytes += more.bytes;
        refused = refused || more.refused;
        return *this;
    }
};

// Removes the resident pages of a block. If `how` may lose the contents of pages, the pages that are shared with
// neighbouring blocks are left alone. `how` must not be `none`, nor `cgroup`, which does not apply to single blocks.
[[nodiscard]] PagesAdvised trim(void* ptr, std::uint64_t bytes, model::TrimHow how) noexcept;

// Makes the pages of a block resident, including pages shared with neighbouring blocks.
[[nodiscard]] PagesAdvised prefetch(void* ptr, std::uint64_t bytes, model::PrefetchHow how) noexcept;

// How stream() goes through a block, chunk by chunk.
struct StreamPlan {
    std::uint64_t chunk_bytes{};
    std::uint64_t ahead{};  // the number of chunks that MADV_WILLNEED requests before they are used
    bool drop_behind{};     // MADV_PAGEOUT on used chunks, which removes pages of a file from memory
    bool writes{};          // used chunks are written to their file (msync) before they are dropped
};

// ask_ahead requests chunks with MADV_WILLNEED: at offset 0 the next plan.ahead chunks, at a later offset one more.
// drop_chunk removes a used chunk from memory; it returns false if the kernel refuses.
void ask_ahead(std::byte* data, std::uint64_t bytes, std::uint64_t at, const StreamPlan& plan) noexcept;
[[nodiscard]] bool drop_chunk(std::byte* chunk, std::uint64_t bytes, const StreamPlan& plan) noexcept;

// Calls use(address, bytes) for each chunk in turn. The last chunk may be shorter than plan.chunk_bytes. Returns false
// if a chunk could not be dropped.
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
