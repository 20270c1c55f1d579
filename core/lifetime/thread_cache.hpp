// Keeps blocks with their memory for the thread that dropped them, and hands them out again by exact size. Keeping a
// block and handing it out need no lock, and usually no locked instruction and no call of another function.
//
// Cost     a few nanoseconds to take or to put a block. take() and put() compare the cache and the size with those that
//          the thread used last. If they are equal, it only has to load and store a pointer to the block that was put
//          last. Older blocks are in a list.
// Memory   a shard of 256 entries per thread. An entry keeps blocks of one size at a time. There are 64 shards. A
//          thread takes a new one when it first uses the cache, and whenever it comes back from another cache. When all
//          are taken, a thread that needs one caches nothing.
// Threads  any; a shard belongs to one thread and lives as long as the cache.
// Ownership  the owner of the cache frees the blocks that are kept: see take_any().
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include "core/base/own_counter.hpp"
#include "core/lifetime/block.hpp"
#include "core/memory/thread_slot.hpp"

namespace memsweep::lifetime {

class ThreadCache {
  public:
    ThreadCache(std::uint32_t per_size, std::uint64_t limit_bytes);

    // Identifies the cache: above 0, and never reused by another cache.
    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

    // Takes a block of exactly this size, with at least this alignment; nullptr: the cache has none at hand.
    [[nodiscard]] Block* take(std::uint64_t bytes, std::size_t alignment) noexcept
    {
        if (!turn_to_shard()) {
            return nullptr;
        }
        Block* const block = turn_to_entry(bytes) ? recent.entry->take(alignment) : nullptr;
        base::add_own(block != nullptr ? recent.entry->hits : recent.shard->misses, 1);
        return block;
    }

    // Keeps a block that has no handles. False: the cache cannot keep it, and the block's place() is set to 0.
    [[nodiscard]] bool put(Block& block) noexcept
    {
        const bool kept = turn_to_shard() && turn_to_entry(block.bytes) && recent.entry->put(block);
        block.set_place(kept ? recent.place : 0);
        return kept;
    }

    // take_recent() and put_recent() do the work of take() and put(), but only in the most common case. For
    // take_recent(): the thread's last call was for this cache and this size. For put_recent(): the block came from the
    // entry that the thread used last. nullptr or false: call take() or put() instead. Only
    // comparisons decide, because the processor predicts them. If the size's hash chose the entry, a put would
    // first have to load the block's size, and the next take would wait for it.
    [[nodiscard]] static Block* take_recent(std::uint64_t number, std::uint64_t bytes, std::size_t alignment) noexcept
    {
        if (recent.number != number || recent.bytes != bytes) [[unlikely]] {
            return nullptr;
        }
        Entry& entry = *recent.entry;
        Block* const block = entry.take(alignment);
        if (block != nullptr) [[likely]] {
            base::add_own(entry.hits, 1);
        }
        return block;
    }
    [[nodiscard]] static bool put_recent(Block& block) noexcept
    {
        if (recent.place != block.place()) [[unlikely]] {
            return false;
        }
        return recent.entry->put(block);
    }

    // Takes any block, to empty the cache; nullptr: the cache is empty. Call only while no other thread uses the cache.
    [[nodiscard]] Block* take_any() noexcept;

    [[nodiscard]] std::uint64_t hits() const noexcept;
    [[nodiscard]] std::uint64_t misses() const noexcept;
    [[nodiscard]] std::uint64_t idle_bytes() const noexcept;
    void reset_counts() noexcept;

  private:
    static constexpr std::size_t entries = 256;
    static constexpr std::size_t max_threads = 64;
    static constexpr std::uint64_t none = ~std::uint64_t{0};                   // a size that no block has
    static constexpr auto nowhere = std::numeric_limits<std::int64_t>::max();  // a place() that no block has

    // Keeps blocks of one size. A program that drops an array and then makes one uses only `latest`. So a take has to
    // wait for the store of the last put, but for no count and no list.
    struct Entry {
        std::atomic<Block*> latest{nullptr};
        Block* older{};  // a list, linked by Block::next
        std::atomic<std::uint32_t> older_count{0};
        std::uint32_t older_limit{};             // the most that older_count may be at this size
        std::atomic<std::uint64_t> bytes{none};  // no size yet
        std::int64_t place{};                    // identifies this entry with this size: see Block::place()
        std::atomic<std::uint64_t> hits{0};      // over all sizes that this entry had

        [[nodiscard]] Block* take(std::size_t alignment) noexcept
        {
            Block* const block = latest.load(relaxed);
            if (block == nullptr) [[unlikely]] {
                return take_older(alignment);
            }
            if (!serves(*block, alignment)) [[unlikely]] {
                return nullptr;
            }
            latest.store(nullptr, relaxed);
            return block;
        }
        [[nodiscard]] bool put(Block& block) noexcept
        {
            if (Block* const before = latest.load(relaxed); before != nullptr) [[unlikely]] {
                if (!put_older(*before)) {
                    return false;
                }
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
    // Only the thread that a shard belongs to writes to it. The members that other threads may read are atomic.
    struct alignas(64) Shard {
        std::array<Entry, entries> table{};
        std::atomic<std::uint64_t> misses{0};
    };
    // The entry that this thread used last, and its shard. If their cache is gone, the pointers dangle but are not
    // used: no heap has that cache's number() any more, and no block that entry's place(). Only this thread can give
    // the entry another size and another `place`. When it does, it updates this struct too.
    struct Recent {
        std::uint64_t number{std::numeric_limits<std::uint64_t>::max()};  // of the cache
        std::uint64_t bytes{none};                                        // size of the entry; none: no entry was used
        std::int64_t place{nowhere};                                      // of the entry
        Entry* entry{};
        Shard* shard{};
    };
    MEMSWEEP_LOCAL_EXEC static thread_local constinit Recent recent;

    // Makes `recent` point to this thread's shard; false: all shards are taken.
    [[nodiscard]] bool turn_to_shard() noexcept { return recent.number == number_ || take_shard(); }
    [[nodiscard]] bool take_shard() noexcept;

    // Makes `recent` point to the entry for this size; false: the entry keeps another size, or the size is too large.
    [[nodiscard]] bool turn_to_entry(std::uint64_t bytes) const noexcept
    {
        if (recent.bytes == bytes) {
            return true;
        }
        constexpr std::uint64_t golden = 0x9E37'79B9'7F4A'7C15;
        Entry& entry = recent.shard->table[(bytes * golden) >> 56U];
        if (entry.bytes.load(relaxed) != bytes && !give_size(entry, bytes)) {
            return false;
        }
        recent.bytes = bytes;
        recent.place = entry.place;
        recent.entry = &entry;
        return true;
    }
    [[nodiscard]] bool give_size(Entry& entry, std::uint64_t bytes) const noexcept;

    // Returns how many blocks of this size a thread may keep.
    [[nodiscard]] std::uint32_t limit_of(std::uint64_t bytes) const noexcept;

    const std::uint64_t number_;
    const std::uint64_t per_size_;
    const std::uint64_t limit_bytes_;
    std::unique_ptr<std::array<Shard, max_threads>> shards_;
    std::atomic<std::size_t> shards_taken_{0};  // index of the next free shard in shards_; may exceed max_threads
};

}  // namespace memsweep::lifetime
