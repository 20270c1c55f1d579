#include "core/memory/allocator_resources.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace memsweep::memory {
namespace {

Allocation cleared(const Allocation& made, std::size_t bytes)
{
    if (made.status == AllocStatus::ok) {
        std::memset(made.ptr, 0, bytes);
        base::keep_stores(made.ptr);
    }
    return made;
}

}  // namespace

Allocation MallocResource::allocate_otherwise(std::size_t bytes, std::size_t alignment) noexcept
{
    if (!is_servable(bytes, alignment)) {
        return {nullptr, AllocStatus::bad_request};
    }
    const std::size_t asked = std::max<std::size_t>(bytes, 1);
    if (alignment <= alignof(std::max_align_t)) {
        return granted(std::malloc(asked));
    }
    void* ptr = nullptr;
    return ::posix_memalign(&ptr, alignment, asked) == 0 ? granted(ptr)
                                                         : Allocation{nullptr, AllocStatus::out_of_memory};
}

Allocation MallocResource::allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept
{
    return is_for_malloc_itself(bytes, alignment) ? granted(std::calloc(bytes, 1))
                                                  : cleared(allocate_otherwise(bytes, alignment), bytes);
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
