#include "core/memory/allocator_resources.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/memory/alignment.hpp"
#include "core/memory/barrier.hpp"

namespace memsweep::memory {
namespace {

// malloc(0) may answer with a null pointer, which would look like a refusal.
std::size_t asked_of_malloc(std::size_t bytes)
{
    return std::max<std::size_t>(bytes, 1);
}

void* aligned(std::size_t bytes, std::size_t alignment)
{
    void* ptr = nullptr;
    return ::posix_memalign(&ptr, alignment, asked_of_malloc(bytes)) == 0 ? ptr : nullptr;
}

Allocation cleared(const Allocation& made, std::size_t bytes)
{
    if (made.status == AllocStatus::ok) {
        std::memset(made.ptr, 0, bytes);
        keep_stores(made.ptr);
    }
    return made;
}

Allocation granted(void* ptr)
{
    void* const hidden = hide(ptr);
    return hidden != nullptr ? Allocation{hidden, AllocStatus::ok} : Allocation{nullptr, AllocStatus::out_of_memory};
}

}  // namespace

Allocation MallocResource::allocate(std::size_t bytes, std::size_t alignment) noexcept
{
    if (!is_servable(bytes, alignment)) {
        return {nullptr, AllocStatus::bad_request};
    }
    return granted(alignment <= alignof(std::max_align_t) ? std::malloc(asked_of_malloc(bytes))
                                                          : aligned(bytes, alignment));
}

Allocation MallocResource::allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept
{
    if (!is_servable(bytes, alignment)) {
        return {nullptr, AllocStatus::bad_request};
    }
    if (alignment <= alignof(std::max_align_t)) {
        return granted(std::calloc(asked_of_malloc(bytes), 1));
    }
    return cleared(granted(aligned(bytes, alignment)), bytes);
}

void MallocResource::deallocate(void* ptr, std::size_t /*bytes*/, std::size_t /*alignment*/) noexcept
{
    std::free(hide(ptr));
}

Allocation PmrResource::allocate(std::size_t bytes, std::size_t alignment) noexcept
{
    if (!is_servable(bytes, alignment)) {
        return {nullptr, AllocStatus::bad_request};
    }
    try {
        return {resource_->allocate(bytes, alignment), AllocStatus::ok};
    } catch (const std::bad_alloc&) {
        return {nullptr, AllocStatus::out_of_memory};
    }
}

Allocation PmrResource::allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept
{
    return cleared(allocate(bytes, alignment), bytes);
}

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

}  // namespace memsweep::memory
