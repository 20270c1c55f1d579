#include "core/memory/pmr_resource.hpp"

#include <cstring>
#include <new>

#include "core/base/assert.hpp"
#include "core/memory/alignment.hpp"
#include "core/memory/barrier.hpp"

namespace memsweep::memory {
namespace {

std::unique_ptr<std::pmr::memory_resource> make(model::ResourceKind kind)
{
    switch (kind) {
    case model::ResourceKind::pmr_new_delete:
        return nullptr;  // the library's own, which nobody owns
    case model::ResourceKind::pmr_monotonic:
        return std::make_unique<std::pmr::monotonic_buffer_resource>(std::pmr::new_delete_resource());
    case model::ResourceKind::pmr_unsync_pool:
        return std::make_unique<std::pmr::unsynchronized_pool_resource>(std::pmr::new_delete_resource());
    case model::ResourceKind::pmr_sync_pool:
        return std::make_unique<std::pmr::synchronized_pool_resource>(std::pmr::new_delete_resource());
    case model::ResourceKind::malloc:
    case model::ResourceKind::aligned:
    case model::ResourceKind::pages:
    case model::ResourceKind::memfd:
    case model::ResourceKind::shm:
    case model::ResourceKind::file:
    case model::ResourceKind::pinned:
    case model::ResourceKind::write_combined:
    case model::ResourceKind::mapped:
    case model::ResourceKind::managed:
    case model::ResourceKind::device:
    case model::ResourceKind::stream_ordered:
    case model::ResourceKind::null:
        break;
    }
    MEMSWEEP_ASSERT(false, "not one of the standard library's resources");
}

}  // namespace

PmrResource::PmrResource(model::ResourceKind kind)
    : owned_{make(kind)}, resource_{owned_ == nullptr ? std::pmr::new_delete_resource() : owned_.get()}
{
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
    const Allocation made = allocate(bytes, alignment);
    if (made.status == AllocStatus::ok) {
        std::memset(made.ptr, 0, bytes);
        keep_stores(made.ptr);
    }
    return made;
}

}  // namespace memsweep::memory
