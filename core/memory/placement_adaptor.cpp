#include "core/memory/placement_adaptor.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "core/memory/alignment.hpp"
#include "core/sys/numa.hpp"
#include "core/sys/page_ops.hpp"

namespace memsweep::memory {

Allocation PlacementAdaptor::placed(Allocation made, std::size_t bytes, std::size_t alignment) noexcept
{
    if (made.status != AllocStatus::ok) {
        return made;
    }
    const AllocStatus status = place(made.ptr, std::max<std::size_t>(bytes, 1));
    if (status != AllocStatus::ok) {
        upstream_.deallocate(made.ptr, bytes, alignment);
        return {nullptr, status};
    }
    return made;
}

// The nodes before anything is touched.
AllocStatus PlacementAdaptor::place(void* ptr, std::size_t bytes) const noexcept
{
    if (wishes_.numa.policy != model::NumaPolicy::none &&
        !sys::set_memory_policy(ptr, bytes, wishes_.numa, wishes_.page_bytes)) {
        return AllocStatus::no_such_node;
    }
    if (wishes_.populated && !sys::populate(ptr, bytes)) {
        return AllocStatus::out_of_memory;
    }
    if (wishes_.locked && ::mlock(ptr, bytes) != 0) {
        return AllocStatus::lock_limit;
    }
    return AllocStatus::ok;
}

HugePageAdaptor::HugePageAdaptor(MemoryResource& upstream, std::uint64_t from_bytes) noexcept
    : upstream_{upstream}, from_bytes_{from_bytes}, page_bytes_{sys::page_size()}
{
}

Allocation HugePageAdaptor::allocate(std::size_t bytes, std::size_t alignment) noexcept
{
    return advised(upstream_.allocate(bytes, alignment), bytes);
}

Allocation HugePageAdaptor::allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept
{
    return advised(upstream_.allocate_zeroed(bytes, alignment), bytes);
}

void HugePageAdaptor::deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept
{
    upstream_.deallocate(ptr, bytes, alignment);
}

Allocation HugePageAdaptor::advised(Allocation allocation, std::size_t bytes) const noexcept
{
    if (allocation.ptr == nullptr || bytes < from_bytes_) {
        return allocation;
    }
    const auto begin = reinterpret_cast<std::uintptr_t>(allocation.ptr);
    const std::uint64_t skipped = round_up(begin, page_bytes_) - begin;
    if (bytes > skipped) {
        static_cast<void>(
            sys::advise(static_cast<std::byte*>(allocation.ptr) + skipped, bytes - skipped, sys::Advice::huge_pages));
    }
    return allocation;
}

}  // namespace memsweep::memory
