#include "core/memory/null_resource.hpp"

#include "core/memory/alignment.hpp"

namespace memsweep::memory {

Allocation NullResource::allocate(std::size_t bytes, std::size_t alignment) noexcept
{
    if (!is_servable(bytes, alignment)) {
        return {nullptr, AllocStatus::bad_request};
    }
    // Twice the alignment always holds one aligned address that the next caller's range cannot contain.
    const std::uint64_t address = round_up(next_.fetch_add(2 * alignment, std::memory_order_relaxed), alignment);
    // The address is a token that nobody reads or writes through.
    return {reinterpret_cast<void*>(address), AllocStatus::ok};  // NOLINT(performance-no-int-to-ptr)
}

Allocation NullResource::allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept
{
    return allocate(bytes, alignment);
}

void NullResource::deallocate(void* /*ptr*/, std::size_t /*bytes*/, std::size_t /*alignment*/) noexcept {}

}  // namespace memsweep::memory
