#include "core/memory/limiting_adaptor.hpp"

namespace memsweep::memory {

bool LimitingAdaptor::take(std::uint64_t bytes) noexcept
{
    std::uint64_t live = live_bytes_.load(std::memory_order_relaxed);
    do {
        if (bytes > limit_bytes_ - live) {
            return false;
        }
    } while (!live_bytes_.compare_exchange_weak(live, live + bytes, std::memory_order_relaxed));
    return true;
}

Allocation LimitingAdaptor::settled(Allocation allocation, std::uint64_t bytes) noexcept
{
    if (allocation.status != AllocStatus::ok) {
        live_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    }
    return allocation;
}

Allocation LimitingAdaptor::allocate(std::size_t bytes, std::size_t alignment) noexcept
{
    if (!take(bytes)) {
        return {nullptr, AllocStatus::over_limit};
    }
    return settled(upstream_.allocate(bytes, alignment), bytes);
}

Allocation LimitingAdaptor::allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept
{
    if (!take(bytes)) {
        return {nullptr, AllocStatus::over_limit};
    }
    return settled(upstream_.allocate_zeroed(bytes, alignment), bytes);
}

void LimitingAdaptor::deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept
{
    upstream_.deallocate(ptr, bytes, alignment);
    live_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
}

}  // namespace memsweep::memory
