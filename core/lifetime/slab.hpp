// Where a heap's control blocks come from, and the one place where the memory of a released block is freed.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "core/lifetime/block.hpp"
#include "core/memory/resource.hpp"

namespace memsweep::lifetime {

// Where a heap's control blocks come from: mapped chunks and a free list, so that making a buffer leaves no trace in
// the malloc heap that is being measured.
//
// Cost     two compare-and-swaps per block used; growing maps a chunk and writes all of it, so reserve first.
// Memory   64 bytes per block in chunks of 1,024, 2,048, 4,096, ... blocks, unmapped only at the end.
// Errors   a null pointer, or false, when the kernel refuses a chunk.
// Threads  any; lock-free except while growing.
// Ownership  owns every block; a block's memory exists until the slab goes, whether it is in use or not.
class BlockSlab {
  public:
    BlockSlab() = default;
    BlockSlab(const BlockSlab&) = delete;
    BlockSlab& operator=(const BlockSlab&) = delete;
    ~BlockSlab();

    // A block that still counts as released: a late stray release finds it so until it is begun again.
    [[nodiscard]] Block* acquire() noexcept;
    void recycle(Block& block) noexcept { push(block, block); }

    // Afterwards this many can be acquired without growing.
    [[nodiscard]] bool reserve(std::size_t blocks) noexcept;

    // Every block that was ever acquired or could be. Exact only while no other thread uses the slab.
    template <typename Visit>
    void each(const Visit& visit) const
    {
        for (std::size_t chunk = 0; chunk < chunk_count_; ++chunk) {
            const Block* const blocks = chunks_[chunk].load(relaxed);
            for (std::uint32_t i = 0; i < first_chunk_blocks << chunk; ++i) {
                visit(blocks[i]);
            }
        }
    }

  private:
    static constexpr std::uint32_t first_chunk_blocks = 1024;
    static constexpr std::size_t max_chunks = 22;  // 2^32 - 1024 blocks in all

    [[nodiscard]] Block& at(std::uint32_t index) const noexcept;
    [[nodiscard]] Block* pop() noexcept;
    void push(Block& first, Block& last) noexcept;
    [[nodiscard]] bool grow() noexcept;

    // Low half: 1 + index of the first free block, 0 for none. High half: how often it was popped, so that a thread
    // that slept through a pop and a push of the same block cannot mistake the list for the one it read (ABA).
    std::atomic<std::uint64_t> head_{0};
    std::array<std::atomic<Block*>, max_chunks> chunks_{};
    std::size_t chunk_count_{};  // guarded by growing_
    std::mutex growing_;
};

// The one place where a released block's memory is really freed: every discipline calls it, sooner or later.
//
// Cost     the once-flag, the resource's deallocate and the slab's compare-and-swap.
// Threads  any; a block that two threads come to free is freed by one of them.
// Ownership  borrows the resource and the slab, which must outlive it.
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
