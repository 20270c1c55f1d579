#include "core/memory/counting_adaptor.hpp"

namespace memsweep::memory {

Allocation CountingAdaptor::counted(Allocation allocation, std::size_t bytes) noexcept
{
    if (allocation.status == AllocStatus::ok) {
        counters_.count_granted(bytes);
    } else {
        counters_.count_refused();
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
    counters_.count_returned(bytes);
}

}  // namespace memsweep::memory
