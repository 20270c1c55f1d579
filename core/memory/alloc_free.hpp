// Allocates and frees one block repeatedly, to measure only the calls into an allocator.
//
// Units    bytes, at least 1; turns, each one an allocation and its free.
// Cost     per turn: the two calls and a check of the allocation's status. If Resource is a final class, its code is
//          inlined into the loop, otherwise both calls are virtual. A Timing adaptor adds no cost for sizes that it
//          does not time.
// Memory   one block at a time, which is never written to.
// Errors   if an allocation is refused, the loop ends. alloc_free returns the status of this allocation, and the
//          number of complete turns before it.
// Threads  as the resource.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/barrier.hpp"
#include "core/memory/adaptors.hpp"
#include "core/memory/alignment.hpp"
#include "core/memory/resource.hpp"

namespace memsweep::memory {

struct AllocFreeTurns {
    std::uint64_t done{};  // complete turns
    AllocStatus status{AllocStatus::ok};
};

// The alignment of malloc.
inline constexpr std::size_t alloc_free_alignment = alignof(std::max_align_t);

template <typename Resource>
[[nodiscard]] AllocFreeTurns alloc_free(Resource& resource, std::size_t bytes, std::uint64_t times) noexcept
{
    // Checked here, once. A resource whose code is inlined need not repeat the check in every turn.
    if (bytes == 0 || !is_servable(bytes, alloc_free_alignment)) {
        return {0, AllocStatus::bad_request};
    }
    for (std::uint64_t turn = 0; turn < times; ++turn) {
        const Allocation made = resource.allocate(bytes, alloc_free_alignment);
        if (made.status != AllocStatus::ok) [[unlikely]] {
            return {turn, made.status};
        }
        resource.deallocate(base::hide(made.ptr), bytes, alloc_free_alignment);
    }
    return {times, AllocStatus::ok};
}

template <typename Upstream>
[[nodiscard]] AllocFreeTurns alloc_free(Timing<Upstream>& timing, std::size_t bytes, std::uint64_t times) noexcept
{
    if (Upstream* const untimed = timing.untimed(bytes)) {
        return alloc_free(*untimed, bytes, times);
    }
    return alloc_free<Timing<Upstream>>(timing, bytes, times);
}

}  // namespace memsweep::memory
