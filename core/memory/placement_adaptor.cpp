#include "core/memory/placement_adaptor.hpp"

#include <algorithm>
#include <cerrno>

#include <sys/mman.h>

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

}  // namespace memsweep::memory
