// Blocks with their memory, kept by the thread that dropped them and handed out again from there by exact size: no
// lock, no locked instruction and no call on the way.
//
// Cost     a thread-local look-up, a hash and a list operation: a few nanoseconds to take or to put.
// Memory   256 entries per thread, each for one size at a time; at most 64 threads have a shard, others none.
// Threads  any; a shard belongs to one thread, and stays until the cache goes.
// Ownership  what is kept is the owner's to free: see take_any.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/lifetime/block.hpp"

namespace memsweep::lifetime {

class ThreadCache {
  public:
    ThreadCache(std::uint32_t per_size, std::uint64_t limit_bytes);

    // A block of exactly this size, still marked as freed; nullptr: there is none, or not so well aligned.
    [[nodiscard]] Block* take(std::uint64_t bytes, std::size_t alignment) noexcept
    {
        Shard* const shard = own_shard();
        if (shard == nullptr) {
            return nullptr;
        }
        Block* const block = turn_to(*shard, bytes) ? shard->last->first : nullptr;
        if (block == nullptr || block->alignment_log2 < std::countr_zero(alignment)) {
            add_one(shard->misses);
            return nullptr;
        }
        Entry& entry = *shard->last;
        entry.first = block->next;
        entry.count.store(entry.count.load(relaxed) - 1, relaxed);
        add_one(shard->hits);
        return block;
    }

    // Keeps a block without handles; false: there is no room for it.
    [[nodiscard]] bool put(Block& block) noexcept
    {
        Shard* const shard = own_shard();
        if (shard == nullptr || !turn_to(*shard, block.bytes)) {
            return false;
        }
        Entry& entry = *shard->last;
        const std::uint32_t count = entry.count.load(relaxed);
        if (count >= entry.limit) {
            return false;
        }
        block.freed.store(true, relaxed);  // idle: nobody's
        block.next = entry.first;
        entry.first = &block;
        entry.count.store(count + 1, relaxed);
        return true;
    }

    // Empties the cache, one block per call; nullptr at the end. For when no other thread uses it.
    [[nodiscard]] Block* take_any() noexcept;

    [[nodiscard]] std::uint64_t hits() const noexcept;
    [[nodiscard]] std::uint64_t misses() const noexcept;
    [[nodiscard]] std::uint64_t idle_bytes() const noexcept;
    void reset_counts() noexcept;

  private:
    static constexpr auto relaxed = std::memory_order_relaxed;
    static constexpr std::size_t entries = 256;
    static constexpr std::size_t most_threads = 64;
    static constexpr std::uint64_t none = ~std::uint64_t{0};  // no block is so large

    struct Entry {
        Block* first{};
        std::atomic<std::uint32_t> count{0};
        std::uint32_t limit{};                   // of the count, at this size
        std::atomic<std::uint64_t> bytes{none};  // no size yet
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
    // a cache that had no shard for it, so that one comparison tells all.
    struct Recent {
        std::uint64_t identity{};
        Shard* shard{};
    };
    static thread_local constinit Recent recent;

    static void add_one(std::atomic<std::uint64_t>& own) noexcept { own.store(own.load(relaxed) + 1, relaxed); }

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

    // Blocks of this size that may be kept.
    [[nodiscard]] std::uint32_t limit_of(std::uint64_t bytes) const noexcept;

    [[nodiscard]] Shard* own_shard() noexcept { return recent.identity == identity_ ? recent.shard : take_shard(); }
    [[nodiscard]] Shard* take_shard() noexcept;

    const std::uint64_t identity_;
    const std::uint64_t per_size_;
    const std::uint64_t limit_bytes_;
    std::unique_ptr<std::array<Shard, most_threads>> shards_;
    std::atomic<std::size_t> shards_taken_{0};  // the first so many; more than there are: none is left
};

}  // namespace memsweep::lifetime
