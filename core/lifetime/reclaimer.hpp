// The one place where a released block's memory is really freed; every discipline ends here, sooner or later.
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

    void free(Block& block) noexcept
    {
        if (claim_free(block)) {
            resource_.deallocate(block.data, block.bytes, block.alignment);
            slab_.recycle(block);
        }
    }

  private:
    memory::MemoryResource& resource_;
    BlockSlab& slab_;
};

}  // namespace memsweep::lifetime
