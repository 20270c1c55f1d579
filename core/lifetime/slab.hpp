// BlockSlab, the source of a heap's control blocks, and Reclaimer, which frees the memory of released blocks.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "core/lifetime/block.hpp"
#include "core/memory/resource.hpp"
#include "core/memory/thread_slot.hpp"

namespace memsweep::lifetime {

// The source of a heap's control blocks. It maps chunks of blocks. It has one free list for all threads, and a short
// free list for each thread. It never calls malloc, so making a buffer leaves no trace in the malloc heap that is
// measured.
//
// Cost     plain loads and stores. A thread that only acquires blocks, or only recycles them, needs a compare-and-swap
//          for every `thread_batch` blocks. Growing maps a chunk and writes all of it, so reserve first.
// Memory   64 bytes per block in chunks of 1,024, 2,048, 4,096, ... blocks. Chunks are unmapped by the destructor. A
//          thread keeps at most `kept_by_thread` free blocks, which other threads cannot acquire.
// Errors   a null pointer, or false, if the kernel refuses a chunk.
// Threads  any; lock-free except while growing. When a thread has ended, the next thread that gets its slot
//          (memory::current_thread_slot) takes over its list. Threads that share a slot have no list.
// Ownership  owns every block. A block's memory exists until the slab is destroyed, whether it is in use or not.
class BlockSlab {
  public:
    BlockSlab() noexcept
    {
        own_[memory::thread_slots].limit = 0;
        own_[memory::unclaimed_slot].limit = 0;
    }
    BlockSlab(const BlockSlab&) = delete;
    BlockSlab& operator=(const BlockSlab&) = delete;
    ~BlockSlab();

    // Returns a block whose count is still `released`, so that a late stray release has no effect before begin().
    // nullptr: the kernel refused a chunk.
    [[nodiscard]] Block* acquire() noexcept { return has_own() ? acquire_own() : acquire_shared(); }

    // Whether the calling thread's own list has a block. If it has one, acquire_own() succeeds, because no other thread
    // can take this block.
    [[nodiscard]] bool has_own() const noexcept { return own_[memory::current_thread_slot].first != nullptr; }
    [[nodiscard]] Block* acquire_own() noexcept
    {
        Own& own = own_[memory::current_thread_slot];
        Block* const block = own.first;
        own.first = block->next;
        --own.count;
        return block;
    }

    void recycle(Block& block) noexcept
    {
        if (!recycle_own(block)) [[unlikely]] {
            recycle_shared(block);
        }
    }
    // False: the calling thread's own list is full.
    [[nodiscard]] bool recycle_own(Block& block) noexcept
    {
        Own& own = own_[memory::current_thread_slot];
        if (own.count == own.limit) [[unlikely]] {
            return false;
        }
        block.next = own.first;
        own.first = &block;
        ++own.count;
        return true;
    }

    // Grows until the calling thread can acquire this many blocks without growing. False: the kernel refused.
    [[nodiscard]] bool reserve(std::size_t blocks) noexcept;

    static constexpr std::uint32_t thread_batch = 16;
    static constexpr std::uint32_t kept_by_thread = 2 * thread_batch;

    // Visits every block of all chunks, free or not. Exact only while no other thread uses the slab.
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

    // A thread's free blocks, linked by `next`.
    struct alignas(64) Own {
        Block* first{};
        std::uint32_t count{};
        std::uint32_t limit{kept_by_thread};
    };

    [[nodiscard]] Block* acquire_shared() noexcept;
    void recycle_shared(Block& block) noexcept;
    [[nodiscard]] Block& at(std::uint32_t index) const noexcept;
    [[nodiscard]] std::uint32_t pop(std::span<Block*> out) noexcept;
    void push(Block& first, Block& last) noexcept;
    [[nodiscard]] bool grow() noexcept;

    // Low half: 1 + index of the first free block, 0 for none. High half: the number of pops so far. The number of pops
    // changes even if a popped block is pushed again. So a thread that has read the old head notices that the list has
    // changed since (the ABA problem).
    std::atomic<std::uint64_t> head_{0};
    std::array<std::atomic<Block*>, max_chunks> chunks_{};
    std::size_t chunk_count_{};  // guarded by growing_
    std::mutex growing_;
    // The last two lists stay empty. One is for threads that share a slot. The other is for threads without a slot:
    // they have only recycled blocks so far, and getting a slot would allocate.
    std::array<Own, memory::thread_slots + 2> own_{};
};

// Really frees the memory of released blocks. All disciplines free through it.
//
// Cost     an exchange of Block::freed, the resource's deallocate, and the return of the block to the slab.
// Threads  any; if two threads free the same block, only the first call frees it.
// Ownership  borrows the resource and the slab, which must outlive it.
class Reclaimer {
  public:
    Reclaimer(memory::MemoryResource& resource, BlockSlab& slab) noexcept : resource_{resource}, slab_{slab} {}

    // Frees the memory of a block that has no handle any more, and returns the block to the slab.
    void free(Block& block) noexcept
    {
        if (free_data(block)) {
            slab_.recycle(block);
        }
    }

    // Like free(), but without a locked instruction. Call it only if no other thread can try to free this block.
    void free_alone(Block& block) noexcept
    {
        if (claim_free_alone(block)) {
            void* const data = block.data;
            const std::uint64_t bytes = block.bytes;
            const std::size_t alignment = block.alignment();
            // Returns the block to the slab first, so that deallocate is a tail call.
            if (!slab_.recycle_own(block)) [[unlikely]] {
                return free_beyond_own(block, data, bytes, alignment);
            }
            resource_.deallocate(data, bytes, alignment);
        }
    }

    // Frees only the block's memory; the block itself stays, for the remaining handles. False: the memory was freed
    // already.
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
    [[gnu::noinline]] void free_beyond_own(Block& block, void* data, std::uint64_t bytes,
                                           std::size_t alignment) noexcept
    {
        slab_.recycle(block);
        resource_.deallocate(data, bytes, alignment);
    }

    memory::MemoryResource& resource_;
    BlockSlab& slab_;
};

}  // namespace memsweep::lifetime
