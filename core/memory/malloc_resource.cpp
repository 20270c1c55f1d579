#include "core/memory/malloc_resource.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

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
    const Allocation allocation = granted(aligned(bytes, alignment));
    if (allocation.ptr != nullptr) {
        std::memset(allocation.ptr, 0, bytes);
        keep_stores(allocation.ptr);
    }
    return allocation;
}

void MallocResource::deallocate(void* ptr, std::size_t /*bytes*/, std::size_t /*alignment*/) noexcept
{
    std::free(hide(ptr));
}

}  // namespace memsweep::memory
