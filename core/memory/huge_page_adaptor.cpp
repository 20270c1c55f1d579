#include "core/memory/huge_page_adaptor.hpp"

#include <cstdint>

#include "core/memory/alignment.hpp"
#include "core/sys/page_ops.hpp"

namespace memsweep::memory {

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
