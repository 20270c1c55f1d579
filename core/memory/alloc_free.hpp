// Allocates and frees one block again and again: the cost of an allocator's calls by themselves.
//
// Units    bytes, at least 1; turns, each an allocation and its free.
// Cost     between the two calls the first one's answer is checked. If Resource is a final class, its code is part of
//          the loop; over malloc, adaptors that leave such calls alone then add no instruction. Else each call is
//          virtual.
// Memory   one block at a time, which is not written to.
// Errors   the status of the allocation that was refused, and the turns before it.
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
    std::uint64_t done{};
    AllocStatus status{AllocStatus::ok};
};

// The alignment of malloc.
inline constexpr std::size_t alloc_free_alignment = alignof(std::max_align_t);

template <typename Resource>
[[nodiscard]] AllocFreeTurns alloc_free(Resource& resource, std::size_t bytes, std::uint64_t times) noexcept
{
    // Checked once, so that resources need not check the same in every turn.
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
