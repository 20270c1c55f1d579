// The one place where a released block's memory is really freed: every discipline calls it, sooner or later.
//
// Cost     the once-flag, the resource's deallocate and the slab's compare-and-swap.
// Threads  any; a block that two threads come to free is freed by one of them.
// Ownership  borrows the resource and the slab, which must outlive it.
#pragma once

#include "core/lifetime/slab.hpp"
#include "core/memory/resource.hpp"

namespace memsweep::lifetime {

class Reclaimer {
  public:
    Reclaimer(memory::MemoryResource& resource, BlockSlab& slab) noexcept : resource_{resource}, slab_{slab} {}

    // A block that has no handle any more.
    void free(Block& block) noexcept
    {
        if (free_data(block)) {
            slab_.recycle(block);
        }
    }

    // Only its memory: handles that are left keep the block. False when it was freed already.
    bool free_data(Block& block) noexcept
    {
        const bool first = claim_free(block);
        if (first) {
            resource_.deallocate(block.data, block.bytes, block.alignment());
        }
        return first;
    }

    void recycle(Block& block) noexcept { slab_.recycle(block); }

    [[nodiscard]] memory::MemoryResource& resource() const noexcept { return resource_; }

  private:
    memory::MemoryResource& resource_;
    BlockSlab& slab_;
};

}  // namespace memsweep::lifetime
