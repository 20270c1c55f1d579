#include "core/lifetime/heap.hpp"

#include "core/base/assert.hpp"

namespace memsweep::lifetime {

Heap::Heap(memory::MemoryResource& resource, const model::ReleaseSpec& release)
    : resource_{resource}, reclaimer_{resource, slab_}, discipline_{make_discipline(release, reclaimer_)}
{
}

Heap::~Heap()
{
    discipline_.reset();  // stops the finalizer threads and frees what they had left, before the slab is looked at
    MEMSWEEP_ASSERT(slab_.held() == 0, "a buffer outlives its heap");
}

Heap::Result Heap::allocate(std::uint64_t bytes, std::size_t alignment, bool zeroed) noexcept
{
    discipline_->before_allocate(bytes);
    Block* const block = slab_.acquire();
    if (block == nullptr) {
        return {{}, memory::AllocStatus::out_of_memory};
    }
    const memory::Allocation allocation =
        zeroed ? resource_.allocate_zeroed(bytes, alignment) : resource_.allocate(bytes, alignment);
    if (allocation.status != memory::AllocStatus::ok) {
        slab_.recycle(*block);
        return {{}, allocation.status};
    }
    block->data = allocation.ptr;
    block->bytes = bytes;
    block->alignment = alignment;
    block->discipline = discipline_.get();
    return {Buffer::begin(*block), memory::AllocStatus::ok};
}

void Heap::reserve(std::size_t blocks) noexcept
{
    // Refused, it is tried again by the allocation that needs it, which can say so.
    static_cast<void>(slab_.reserve(blocks));
}

}  // namespace memsweep::lifetime
