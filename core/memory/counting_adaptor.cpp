#include "core/memory/counting_adaptor.hpp"

namespace memsweep::memory {

// Across processes only a lock-free atomic works.
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

Allocation CountingAdaptor::counted(Allocation allocation, std::size_t bytes) noexcept
{
    constexpr auto relaxed = std::memory_order_relaxed;
    if (allocation.status != AllocStatus::ok) {
        counters_.refusals.fetch_add(1, relaxed);
        return allocation;
    }
    counters_.allocations.fetch_add(1, relaxed);
    counters_.allocated_bytes.fetch_add(bytes, relaxed);
    const std::uint64_t live = counters_.live_bytes.fetch_add(bytes, relaxed) + bytes;
    std::uint64_t peak = counters_.live_bytes_peak.load(relaxed);
    while (live > peak && !counters_.live_bytes_peak.compare_exchange_weak(peak, live, relaxed)) {
    }
    return allocation;
}

Allocation CountingAdaptor::allocate(std::size_t bytes, std::size_t alignment) noexcept
{
    return counted(upstream_.allocate(bytes, alignment), bytes);
}

Allocation CountingAdaptor::allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept
{
    return counted(upstream_.allocate_zeroed(bytes, alignment), bytes);
}

void CountingAdaptor::deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept
{
    upstream_.deallocate(ptr, bytes, alignment);
    counters_.live_bytes.fetch_sub(bytes, std::memory_order_relaxed);
    counters_.deallocations.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace memsweep::memory
