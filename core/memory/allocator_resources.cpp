#include "core/memory/allocator_resources.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace memsweep::memory {
namespace {

Allocation cleared(const Allocation& made, std::size_t bytes)
{
    if (made.status == AllocStatus::ok) {
        std::memset(made.ptr, 0, bytes);
        keep_stores(made.ptr);
    }
    return made;
}

}  // namespace

Allocation MallocResource::allocate_aligned(std::size_t bytes, std::size_t alignment) noexcept
{
    if (!is_servable(bytes, alignment)) {
        return {nullptr, AllocStatus::bad_request};
    }
    void* ptr = nullptr;
    return ::posix_memalign(&ptr, alignment, asked_of_malloc(bytes)) == 0
               ? granted(ptr)
               : Allocation{nullptr, AllocStatus::out_of_memory};
}

Allocation MallocResource::allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept
{
    if (alignment > alignof(std::max_align_t) || !is_servable(bytes, alignment)) {
        return cleared(allocate_aligned(bytes, alignment), bytes);
    }
    return granted(std::calloc(asked_of_malloc(bytes), 1));
}

Allocation PmrResource::allocate(std::size_t bytes, std::size_t alignment) noexcept
{
    if (!is_servable(bytes, alignment)) {
        return {nullptr, AllocStatus::bad_request};
    }
    try {
        return {resource_->allocate(round_up(bytes, alignment), alignment), AllocStatus::ok};
    } catch (const std::bad_alloc&) {
        return {nullptr, AllocStatus::out_of_memory};
    }
}

Allocation PmrResource::allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept
{
    return cleared(allocate(bytes, alignment), bytes);
}

}  // namespace memsweep::memory
