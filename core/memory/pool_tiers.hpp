// The tiers in which a pool of size classes keeps idle blocks. The first is a cache for each thread, the second a depot
// for all threads, or several depots (stripes). The last tier is a common store that records since when each block has
// been idle.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "core/base/own_counter.hpp"
#include "core/memory/lazy_array.hpp"
#include "core/memory/thread_slot.hpp"
#include "core/model/pool_spec.hpp"

namespace memsweep::memory {

// The first tier of a pool: a cache for each thread, with a short stack of blocks per class.
//
// Cost     a few nanoseconds: a thread-local load, then plain loads and stores. No lock, no locked instruction, no
//          call.
// Memory   for each thread that uses the tier: (24 + 8 * blocks) bytes per class, rounded up to a power of two, in a
//          mapping. The pages of the mapping that belong to unused classes are never touched. The idle blocks are not
//          touched either.
// Threads  a cache belongs to the thread that owns the cache's slot (thread_slot.hpp). Members that other threads may
//          read are atomic. Threads that share a slot have no cache.
// Ownership  the pool frees the kept blocks: see drain.
class ThreadTier {
  public:
    static constexpr auto relaxed = std::memory_order_relaxed;

    // The idle blocks of one class in one thread's cache. The block that was freed last is in `latest`. So a free
    // followed by an allocation need not update the count of older blocks. The array of older blocks follows this
    // struct in memory.
    struct Magazine {
        std::atomic<void*> latest{nullptr};
        std::atomic<std::uint32_t> older_count{0};
        std::uint32_t capacity{};  // for `latest` and the older blocks together; the pool sets it before the first put
        std::atomic<std::uint64_t> taken{0};      // the number of blocks taken so far
        std::atomic<std::uint64_t> requested{0};  // bytes requested by the callers that took them

        [[nodiscard]] std::uint32_t count() const noexcept
        {
            return older_count.load(relaxed) + (latest.load(relaxed) != nullptr ? 1U : 0U);
        }

        // Returns nullptr if there is no block.
        [[nodiscard]] void* take(std::uint64_t requested_bytes) noexcept
        {
            void* block = latest.load(relaxed);
            if (block != nullptr) {
                latest.store(nullptr, relaxed);
            } else {
                const std::uint32_t left = older_count.load(relaxed);
                if (left == 0) {
                    return nullptr;
                }
                older_count.store(left - 1, relaxed);
                block = older()[left - 1];
                if (block == nullptr) {
                    __builtin_unreachable();  // so that the compiler drops null checks in callers
                }
            }
            base::add_own(taken, 1);
            base::add_own(requested, requested_bytes);
            return block;
        }

        // Returns false if the magazine is full.
        [[nodiscard]] bool put(void* block) noexcept
        {
            void* const before = latest.load(relaxed);
            if (before != nullptr && !put_older(before)) {
                return false;
            }
            latest.store(block, relaxed);
            return true;
        }

        // Moves the oldest blocks into `out`, as many as fit. Returns how many it moved.
        [[nodiscard]] std::uint32_t take_oldest(std::span<void*> out) noexcept
        {
            const std::uint32_t kept = older_count.load(relaxed);
            const auto taken_now = static_cast<std::uint32_t>(std::min<std::size_t>(kept, out.size()));
            std::copy_n(older(), taken_now, out.begin());
            std::copy(older() + taken_now, older() + kept, older());
            older_count.store(kept - taken_now, relaxed);
            if (taken_now == out.size() || latest.load(relaxed) == nullptr) {
                return taken_now;
            }
            out[taken_now] = latest.exchange(nullptr, relaxed);
            return taken_now + 1;
        }

      private:
        [[nodiscard]] void** older() noexcept { return reinterpret_cast<void**>(this + 1); }
        [[nodiscard]] bool put_older(void* block) noexcept
        {
            const std::uint32_t kept = older_count.load(relaxed);
            if (kept + 1 >= capacity) {
                return false;
            }
            older()[kept] = block;
            older_count.store(kept + 1, relaxed);
            return true;
        }
    };

    // Remembers which magazine serves a size, so that a comparison replaces the search for the class.
    class Memory {
      public:
        Memory() noexcept
        {
            sizes_.fill(none);
            magazines_.fill(&without_blocks);
        }

        // Returns nullptr if no magazine is remembered for this size.
        [[nodiscard]] Magazine* recall(std::uint64_t bytes) const noexcept
        {
            const std::size_t place = place_of(bytes);
            if (sizes_[place] != bytes) {
                return nullptr;
            }
            if (magazines_[place] == nullptr) {
                __builtin_unreachable();  // so that the compiler drops null checks in callers
            }
            return magazines_[place];
        }
        void remember(std::uint64_t bytes, Magazine& magazine) noexcept
        {
            sizes_[place_of(bytes)] = bytes;
            magazines_[place_of(bytes)] = &magazine;
        }

      private:
        static constexpr std::uint64_t none = ~std::uint64_t{0};  // marks a free entry: no block has this size
        static Magazine without_blocks;                           // the always empty magazine of free entries
        static constexpr std::size_t places = 64;
        [[nodiscard]] static std::size_t place_of(std::uint64_t bytes) noexcept
        {
            constexpr std::uint32_t golden = 0x9E37'79B9;  // 32 bits, for a single multiply instruction
            return (static_cast<std::uint32_t>(bytes) * golden) >> 26U;
        }

        // Two arrays, not one array of pairs, because their elements are addressed without extra arithmetic.
        std::array<std::uint64_t, places> sizes_;
        std::array<Magazine*, places> magazines_;  // never null
    };

    // One thread's cache.
    class Cache : public Memory {
      public:
        Cache(std::uint32_t classes, std::uint32_t magazine_bytes)
            : shift_{static_cast<std::uint32_t>(std::countr_zero(magazine_bytes))},
              storage_{std::size_t{classes} << shift_}
        {
        }

        [[nodiscard]] Magazine& magazine(std::uint32_t index) noexcept
        {
            return *reinterpret_cast<Magazine*>(&storage_[std::size_t{index} << shift_]);
        }

      private:
        std::uint32_t shift_;
        LazyArray<std::byte> storage_;
    };

    // `blocks`: the most blocks of one class that a thread may keep.
    ThreadTier(std::uint32_t classes, std::uint32_t blocks)
        : classes_{classes}, magazine_bytes_{std::bit_ceil(
                                 static_cast<std::uint32_t>(sizeof(Magazine) - sizeof(void*) + blocks * sizeof(void*)))}
    {
        for (std::atomic<Memory*>& memory : memories_) {
            memory.store(&blank_, relaxed);
        }
    }
    ThreadTier(const ThreadTier&) = delete;
    ThreadTier& operator=(const ThreadTier&) = delete;
    ~ThreadTier();

    // Returns the magazine that the calling thread remembers for this size. Returns nullptr if the thread remembers
    // none, for example before its first use of this tier.
    [[nodiscard]] Magazine* recall(std::uint64_t bytes) const noexcept
    {
        return memories_[current_thread_slot].load(relaxed)->recall(bytes);
    }

    // Returns the calling thread's cache; nullptr if the thread has not used this tier yet.
    [[nodiscard]] Cache* find() const noexcept { return caches_[current_thread_slot].load(relaxed); }

    // Returns the calling thread's cache, which is made if needed. Returns nullptr if the thread has no slot of its
    // own, or if there is no memory for a cache.
    [[nodiscard]] Cache* find_or_make() noexcept;

    // Empties the cache of `slot`; the caller must own the slot. Calls visit(index, block) for every block in the
    // cache, where `index` is the block's class.
    template <typename Visit>
    void drain(std::uint32_t slot, const Visit& visit) noexcept
    {
        Cache* const cache = caches_[slot].load(std::memory_order_acquire);
        for (std::uint32_t i = 0; cache != nullptr && i < classes_; ++i) {
            Magazine& magazine = cache->magazine(i);
            std::array<void*, 1> oldest{};
            while (magazine.count() != 0 && magazine.take_oldest(oldest) == 1) {  // count() does not write unused pages
                visit(i, oldest.front());
            }
        }
    }

    // Calls visit(cache) for every cache.
    template <typename Visit>
    void each(const Visit& visit) const
    {
        for (const std::atomic<Cache*>& cache : caches_) {
            if (Cache* const found = cache.load(std::memory_order_acquire); found != nullptr) {
                visit(*found);
            }
        }
    }

  private:
    std::uint32_t classes_;
    std::uint32_t magazine_bytes_;
    // The last two entries stay blank. They are for threads that share a slot, and for threads that have no slot yet.
    std::array<std::atomic<Memory*>, thread_slots + 2> memories_;  // by slot: a cache or `blank_`; never null
    std::array<std::atomic<Cache*>, thread_slots + 2> caches_{};
    Memory blank_;
};

inline constinit ThreadTier::Magazine ThreadTier::Memory::without_blocks{};

// The second tier of a pool: a bounded stack of blocks per class. The caches of threads refill from it and overflow
// into it, several blocks at a time.
//
// Cost     one uncontended lock of the class per batch.
// Memory   8 bytes per block that was ever kept; blocks themselves are not touched.
// Threads  any; each class has a lock of its own.
// Ownership  the pool frees the kept blocks.
class Depot {
  public:
    // `blocks`: the most blocks of one class that may be kept.
    Depot(std::uint32_t classes, std::uint32_t blocks)
        : stride_{blocks}, shelves_{std::make_unique<Shelf[]>(classes)}, blocks_{std::size_t{classes} * blocks + 1}
    {
    }

    // Moves the newest blocks of a class into `into`, as many as fit. Returns how many it moved.
    [[nodiscard]] std::uint32_t take(std::uint32_t index, std::span<void*> into) noexcept;

    // Keeps blocks from the start of `blocks`, until the class holds `capacity` blocks. Returns how many it kept.
    [[nodiscard]] std::uint32_t put(std::uint32_t index, std::span<void* const> blocks,
                                    std::uint32_t capacity) noexcept;

    // Moves blocks of a class that were not needed since the last call into `into`, oldest first, as many as fit. The
    // number of blocks that were not needed is the lowest count of blocks since the last call. Returns how many it
    // moved.
    [[nodiscard]] std::uint32_t take_unused(std::uint32_t index, std::span<void*> into) noexcept;

    [[nodiscard]] std::uint32_t count(std::uint32_t index) const noexcept;

  private:
    struct Shelf {
        mutable std::mutex mutex;
        std::uint32_t count{};
        std::uint32_t least{};  // the lowest `count` since the last take_unused
    };

    std::uint32_t stride_;
    std::unique_ptr<Shelf[]> shelves_;
    LazyArray<void*> blocks_;
};

// Idle blocks in several depots, the stripes, which are assigned by thread number. A thread puts blocks into its own
// stripe. It takes blocks from its own stripe or, if this stripe has none, from other stripes. Blocks that do not fit
// into a stripe are not kept.
//
// Sources  the topology of DotCompute's object pool.
// Cost     one lock, uncontended if each thread has a stripe of its own. A miss visits every stripe.
// Memory   8 bytes per block that was ever kept; blocks themselves are not touched.
// Threads  any.
// Ownership  the pool frees the kept blocks.
class Stripes {
  public:
    // `blocks`: the most blocks of one class that a stripe may keep.
    Stripes(std::uint32_t stripes, std::uint32_t classes, std::uint32_t blocks);

    struct Taken {
        void* ptr{};
        bool own{};  // the block was in the calling thread's stripe
    };
    [[nodiscard]] Taken take(std::uint32_t index) noexcept;
    [[nodiscard]] bool put(std::uint32_t index, void* block, std::uint32_t capacity) noexcept;

    [[nodiscard]] std::uint32_t count(std::uint32_t index) const noexcept;

  private:
    [[nodiscard]] std::size_t own_stripe() const noexcept { return thread_slot() % depots_.size(); }

    std::vector<std::unique_ptr<Depot>> depots_;
};

class SizeClasses;

struct IdleBlock {
    void* ptr{};
    std::uint32_t index{};  // its class
};

// The last tier of a pool: idle blocks for all threads, each with the time since which it has been idle. Their number
// and bytes are limited, in total and per class. If the store is full or must shrink, the eviction rule
// (model::Eviction) selects the blocks to remove.
//
// Units    bytes; nanoseconds of the steady clock.
// Cost     one lock; an eviction may visit every class.
// Memory   40 bytes per idle block, in a mapping of its own, for at most 262,144 blocks. The blocks are not touched.
// Threads  any.
// Ownership  the pool frees the kept blocks. Removed blocks are handed to the caller.
class IdleStore {
  public:
    static constexpr std::uint32_t max_blocks = 1U << 18U;

    IdleStore(const SizeClasses& classes, const model::PoolSpec& spec);

    // Removes and returns the newest block of the class; nullptr if there is none.
    [[nodiscard]] void* take(std::uint32_t index, std::int64_t now_ns) noexcept;

    // Keeps the block if there is room. `evicted`: to make room, another block was moved into `victim`; the caller
    // frees `victim` and calls again. `refused`: nothing was kept; the caller frees `block`.
    enum class Put : std::uint8_t { kept, evicted, refused };
    [[nodiscard]] Put put(IdleBlock block, std::int64_t now_ns, IdleBlock& victim) noexcept;

    // If the store has more than `keep_bytes`, removes and returns one block, selected by the eviction rule; else
    // returns nullopt.
    [[nodiscard]] std::optional<IdleBlock> take_beyond(std::uint64_t keep_bytes) noexcept;

    // Removes and returns one block that was put before `since_ns`; nullopt if there is none.
    [[nodiscard]] std::optional<IdleBlock> take_older(std::int64_t since_ns) noexcept;

    // Records that requests of the class were served by the depot, for the eviction rules that depend on use (lru,
    // lfu).
    void note_hits(std::uint32_t index, std::uint64_t hits, std::int64_t now_ns) noexcept;

    [[nodiscard]] std::uint32_t count(std::uint32_t index) const noexcept;

  private:
    // A node's index in nodes_ plus 1; 0: no node.
    using Link = std::uint32_t;
    struct Node {
        void* ptr{};
        std::int64_t since_ns{};
        std::uint32_t index{};                // the block's class
        Link newer{}, older{};                // in its class
        Link newer_of_all{}, older_of_all{};  // in the whole store
    };
    struct Shelf {
        Link newest{}, oldest{};
        std::uint32_t count{};
        std::uint64_t hits{};
        std::int64_t used_ns{};
    };

    [[nodiscard]] Node& at(Link link) noexcept { return nodes_[link - 1]; }
    [[nodiscard]] Link new_node() noexcept;
    void insert(IdleBlock block, std::int64_t now_ns) noexcept;
    [[nodiscard]] IdleBlock remove(Link link) noexcept;
    [[nodiscard]] bool fits(std::uint32_t index) const noexcept;
    [[nodiscard]] Link victim_of(model::Eviction rule) const noexcept;
    template <typename Better>
    [[nodiscard]] Link oldest_of(const Better& better) const noexcept;

    const SizeClasses& classes_;
    const model::PoolSpec spec_;
    mutable std::mutex mutex_;  // guards everything below
    std::vector<Shelf> shelves_;
    LazyArray<Node> nodes_;
    Link unused_{};         // the first of the removed nodes, which are linked by `older`; 0: none
    std::uint32_t used_{};  // the number of nodes that were ever used
    Link newest_{}, oldest_{};
    std::uint64_t bytes_{};
};

}  // namespace memsweep::memory
