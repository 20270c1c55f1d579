// Blocks with their memory, kept by the thread that dropped them and handed out again by exact size, without a lock, a
// locked instruction or a call.
//
// Cost     a few nanoseconds to take or to put: a thread-local look-up, and a load and a store of the block last put;
//          older ones are in a list.
// Memory   256 entries per thread, each for one size at a time. At most 64 threads have a shard; further ones cache
//          nothing.
// Threads  any; a shard belongs to one thread and lives as long as the cache.
// Ownership  the owner of the cache frees what is kept: see take_any.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/base/own_counter.hpp"
#include "core/lifetime/block.hpp"

namespace memsweep::lifetime {

class ThreadCache {
  public:
    ThreadCache(std::uint32_t per_size, std::uint64_t limit_bytes);

    // A block of exactly this size; nullptr: there is none, or not so well aligned.
    [[nodiscard]] Block* take(std::uint64_t bytes, std::size_t alignment) noexcept
    {
        Shard* const shard = own_shard();
        if (shard == nullptr) {
            return nullptr;
        }
        Block* const block = turn_to(*shard, bytes) ? shard->last->take(alignment) : nullptr;
        base::add_own(block != nullptr ? shard->hits : shard->misses, 1);
        return block;
    }

    // Keeps a block without handles; false: there is no room for it.
    [[nodiscard]] bool put(Block& block) noexcept
    {
        Shard* const shard = own_shard();
        return shard != nullptr && turn_to(*shard, block.bytes) && shard->last->put(block);
    }

    // Empties the cache, one block per call; nullptr at the end. For when no other thread uses it.
    [[nodiscard]] Block* take_any() noexcept;

    [[nodiscard]] std::uint64_t hits() const noexcept { return sum(&Shard::hits); }
    [[nodiscard]] std::uint64_t misses() const noexcept { return sum(&Shard::misses); }
    [[nodiscard]] std::uint64_t idle_bytes() const noexcept;
    void reset_counts() noexcept;

  private:
    static constexpr std::size_t entries = 256;
    static constexpr std::size_t max_threads = 64;
    static constexpr std::uint64_t none = ~std::uint64_t{0};  // no block is so large

    // A program that drops an array and makes the next one goes through `latest` alone: what is taken waits for what
    // was put, but for no count and no list.
    struct Entry {
        std::atomic<Block*> latest{nullptr};
        Block* older{};  // a list
        std::atomic<std::uint32_t> older_count{0};
        std::uint32_t older_limit{};             // of the count, at this size
        std::atomic<std::uint64_t> bytes{none};  // no size yet

        [[nodiscard]] Block* take(std::size_t alignment) noexcept
        {
            Block* const block = latest.load(relaxed);
            if (block == nullptr) [[unlikely]] {
                return take_older(alignment);
            }
            if (!serves(*block, alignment)) {
                return nullptr;
            }
            latest.store(nullptr, relaxed);
            return block;
        }
        [[nodiscard]] bool put(Block& block) noexcept
        {
            if (Block* const before = latest.load(relaxed); before != nullptr && !put_older(*before)) {
                return false;
            }
            latest.store(&block, relaxed);
            return true;
        }
        [[nodiscard]] std::uint64_t count() const noexcept
        {
            return older_count.load(relaxed) + (latest.load(relaxed) != nullptr ? 1U : 0U);
        }

      private:
        [[nodiscard]] static bool serves(const Block& block, std::size_t alignment) noexcept
        {
            return block.alignment_log2 >= std::countr_zero(alignment);
        }
        [[nodiscard]] Block* take_older(std::size_t alignment) noexcept
        {
            Block* const block = older;
            if (block == nullptr || !serves(*block, alignment)) {
                return nullptr;
            }
            older = block->next;
            older_count.store(older_count.load(relaxed) - 1, relaxed);
            return block;
        }
        [[nodiscard]] bool put_older(Block& block) noexcept
        {
            const std::uint32_t kept = older_count.load(relaxed);
            if (kept >= older_limit) {
                return false;
            }
            block.next = older;
            older = &block;
            older_count.store(kept + 1, relaxed);
            return true;
        }
    };
    // Written by its thread alone; what others may read is atomic.
    struct alignas(64) Shard {
        std::array<Entry, entries> table{};
        std::uint64_t last_bytes{none};
        Entry* last{&table.front()};  // holds blocks of that size and of no other
        std::atomic<std::uint64_t> hits{0};
        std::atomic<std::uint64_t> misses{0};
    };
    // The shard this thread last used, and whose it was: a cache is known by a number that no other ever has. Never of
    // a cache that had no shard for it, so that one comparison decides.
    struct Recent {
        std::uint64_t identity{};
        Shard* shard{};
    };
    static thread_local constinit Recent recent;

    // Makes `last` the entry of this size; false: other sizes have it. A program that asks for the size it asked for
    // last goes by a branch that is predicted: a hash would make what is put wait for its size to be loaded, and what
    // is taken next wait for that.
    [[nodiscard]] bool turn_to(Shard& shard, std::uint64_t bytes) const noexcept
    {
        if (shard.last_bytes == bytes) [[likely]] {
            return true;
        }
        return find_entry(shard, bytes);
    }
    [[nodiscard]] bool find_entry(Shard& shard, std::uint64_t bytes) const noexcept;

    [[nodiscard]] std::uint64_t sum(std::atomic<std::uint64_t> Shard::*counter) const noexcept;

    // Blocks of this size that may be kept.
    [[nodiscard]] std::uint32_t limit_of(std::uint64_t bytes) const noexcept;

    // nullptr: there is none left.
    [[nodiscard]] Shard* own_shard() noexcept
    {
        if (recent.identity != identity_) [[unlikely]] {
            return take_shard();
        }
        if (recent.shard == nullptr) {
            __builtin_unreachable();  // so that no caller asks
        }
        return recent.shard;
    }
    [[nodiscard]] Shard* take_shard() noexcept;

    const std::uint64_t identity_;
    const std::uint64_t per_size_;
    const std::uint64_t limit_bytes_;
    std::unique_ptr<std::array<Shard, max_threads>> shards_;
    std::atomic<std::size_t> shards_taken_{0};  // the first so many; more than there are: none is left
};

}  // namespace memsweep::lifetime
