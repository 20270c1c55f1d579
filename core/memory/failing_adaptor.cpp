#include "core/memory/failing_adaptor.hpp"

#include "core/base/assert.hpp"

namespace memsweep::memory {

FailingAdaptor::FailingAdaptor(MemoryResource& upstream, std::uint64_t every) noexcept
    : upstream_{upstream}, every_{every}
{
    MEMSWEEP_ASSERT(every != 0, "a failing adaptor that never fails is left out of the stack");
}

bool FailingAdaptor::refuses_this_one() noexcept
{
    return (requests_.fetch_add(1, std::memory_order_relaxed) + 1) % every_ == 0;
}

Allocation FailingAdaptor::allocate(std::size_t bytes, std::size_t alignment) noexcept
{
    return refuses_this_one() ? Allocation{nullptr, AllocStatus::injected} : upstream_.allocate(bytes, alignment);
}

Allocation FailingAdaptor::allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept
{
    return refuses_this_one() ? Allocation{nullptr, AllocStatus::injected}
                              : upstream_.allocate_zeroed(bytes, alignment);
}

void FailingAdaptor::deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept
{
    upstream_.deallocate(ptr, bytes, alignment);
}

}  // namespace memsweep::memory
