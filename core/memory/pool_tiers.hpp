// The tiers in which a pool of size classes keeps idle blocks: each thread's own, a depot or stripes of depots by
// class, and a store for all threads that knows ages.
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

// The first tier of a pool: each thread's own cache, a short stack of blocks per class.
//
// Cost     a thread-local load, then plain loads and stores: no lock, no locked instruction, no call. A few
//          nanoseconds.
// Memory   per thread that uses it, a mapping of (24 + 8 * blocks) bytes per class, rounded up to a power of two; pages
//          of classes it never uses are never touched. Blocks themselves are not touched.
// Threads  a cache belongs to the owner of its thread slot; the parts that others may read are atomic. Threads that
//          share a slot have none.
// Ownership  the pool frees the kept blocks: see drain.
class ThreadTier {
  public:
    static constexpr auto relaxed = std::memory_order_relaxed;

    // One class of one thread's cache. If a program frees a block and then asks for one, `latest` alone serves it: the
    // take depends on the put, but on no count. The older blocks follow the magazine in memory.
    struct Magazine {
        std::atomic<void*> latest{nullptr};
        std::atomic<std::uint32_t> older_count{0};
        std::uint32_t capacity{};  // both together, from the pool; nothing is put where it is 0
        std::atomic<std::uint64_t> taken{0};
        std::atomic<std::uint64_t> requested{0};  // bytes, of what was taken

        [[nodiscard]] std::uint32_t count() const noexcept
        {
            return older_count.load(relaxed) + (latest.load(relaxed) != nullptr ? 1U : 0U);
        }

        // nullptr: there is none.
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
                    __builtin_unreachable();  // so that no caller asks
                }
            }
            base::add_own(taken, 1);
            base::add_own(requested, requested_bytes);
            return block;
        }

        // False: there is no room.
        [[nodiscard]] bool put(void* block) noexcept
        {
            void* const before = latest.load(relaxed);
            if (before != nullptr && !put_older(before)) {
                return false;
            }
            latest.store(block, relaxed);
            return true;
        }

        // Takes the oldest blocks, as many as exist and fit into `out`; returns how many.
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

    // Remembers the magazine that serves a size: one comparison in place of finding its class.
    class Memory {
      public:
        Memory() noexcept
        {
            sizes_.fill(none);
            magazines_.fill(&without_blocks);
        }

        // nullptr: none is remembered.
        [[nodiscard]] Magazine* recall(std::uint64_t bytes) const noexcept
        {
            const std::size_t place = place_of(bytes);
            if (sizes_[place] != bytes) {
                return nullptr;
            }
            if (magazines_[place] == nullptr) {
                __builtin_unreachable();  // so that no caller asks
            }
            return magazines_[place];
        }
        void remember(std::uint64_t bytes, Magazine& magazine) noexcept
        {
            sizes_[place_of(bytes)] = bytes;
            magazines_[place_of(bytes)] = &magazine;
        }

      private:
        static constexpr std::uint64_t none = ~std::uint64_t{0};  // no block is so large
        static Magazine without_blocks;                           // serves a request of so many bytes
        static constexpr std::size_t places = 64;
        [[nodiscard]] static std::size_t place_of(std::uint64_t bytes) noexcept
        {
            constexpr std::uint32_t golden = 0x9E37'79B9;  // 32 bits multiply in one instruction
            return (static_cast<std::uint32_t>(bytes) * golden) >> 26U;
        }

        // Two arrays, whose elements are found without arithmetic.
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

    // `blocks`: the most that a thread may keep of any class.
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

    // The magazine that the calling thread remembers; none before it has used this tier.
    [[nodiscard]] Magazine* recall(std::uint64_t bytes) const noexcept
    {
        return memories_[current_thread_slot].load(relaxed)->recall(bytes);
    }

    // The calling thread's cache, if it has used this tier before.
    [[nodiscard]] Cache* find() const noexcept { return caches_[current_thread_slot].load(relaxed); }

    // The calling thread's cache; nullptr: it has no slot of its own, or there is no memory for it.
    [[nodiscard]] Cache* find_or_make() noexcept;

    // Calls visit(index, block) for every block in the cache of `slot`, which the caller owns, and empties it.
    template <typename Visit>
    void drain(std::uint32_t slot, const Visit& visit) noexcept
    {
        Cache* const cache = caches_[slot].load(std::memory_order_acquire);
        for (std::uint32_t i = 0; cache != nullptr && i < classes_; ++i) {
            Magazine& magazine = cache->magazine(i);
            std::array<void*, 1> oldest{};
            while (magazine.count() != 0 && magazine.take_oldest(oldest) == 1) {  // a page never used is not written
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
    // The last two stay empty: threads that share a slot, and threads that have not asked for one yet.
    std::array<std::atomic<Memory*>, thread_slots + 2> memories_;  // the caches', or `blank_`: never null
    std::array<std::atomic<Cache*>, thread_slots + 2> caches_{};
    Memory blank_;
};

inline constinit ThreadTier::Magazine ThreadTier::Memory::without_blocks{};

// The second tier of a pool: a bounded stack of blocks per class. The caches of threads are filled from it and overflow
// into it, several blocks at a time.
//
// Cost     one uncontended lock of the class per batch.
// Memory   8 bytes per block that was ever kept; blocks themselves are not touched.
// Threads  any; each class has a lock of its own.
// Ownership  the pool frees the kept blocks.
class Depot {
  public:
    // `blocks`: the most that may be kept of any class.
    Depot(std::uint32_t classes, std::uint32_t blocks)
        : stride_{blocks}, shelves_{std::make_unique<Shelf[]>(classes)}, blocks_{std::size_t{classes} * blocks + 1}
    {
    }

    // The newest blocks of the class, as many as fit into `into`. Returns how many there were.
    [[nodiscard]] std::uint32_t take(std::uint32_t index, std::span<void*> into) noexcept;

    // Keeps blocks from the front until it holds `capacity` in all. Returns how many it kept.
    [[nodiscard]] std::uint32_t put(std::uint32_t index, std::span<void* const> blocks,
                                    std::uint32_t capacity) noexcept;

    // Takes the blocks that nobody needed since the last call, oldest first, as many as fit. Their number is the lowest
    // count since then.
    [[nodiscard]] std::uint32_t take_unused(std::uint32_t index, std::span<void*> into) noexcept;

    [[nodiscard]] std::uint32_t count(std::uint32_t index) const noexcept;

  private:
    struct Shelf {
        mutable std::mutex mutex;
        std::uint32_t count{};
        std::uint32_t least{};  // count, at its lowest since take_unused
    };

    std::uint32_t stride_;
    std::unique_ptr<Shelf[]> shelves_;
    LazyArray<void*> blocks_;
};

// Idle blocks in buckets by thread number. A thread puts into its own bucket and looks there first, then in the others.
// A block that does not fit is not kept.
//
// Sources  the topology of DotCompute's object pool.
// Cost     one lock, uncontended while threads have buckets of their own; a miss looks at every bucket.
// Memory   8 bytes per block that was ever kept; blocks themselves are not touched.
// Threads  any.
// Ownership  the pool frees the kept blocks.
class Stripes {
  public:
    // `blocks`: the most that a bucket may keep of any class.
    Stripes(std::uint32_t stripes, std::uint32_t classes, std::uint32_t blocks);

    struct Taken {
        void* ptr{};
        bool own{};  // it lay in this thread's bucket
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

// The last tier of a pool: idle blocks for all threads, with their ages, bounded in all and per class. If it is full,
// or is to shrink, its eviction rule chooses the blocks that go.
//
// Units    bytes; nanoseconds of the steady clock.
// Cost     one lock; an eviction looks at every class. 48 bytes per idle block, in a mapping of its own.
// Memory   at most 262,144 blocks lie here; blocks themselves are not touched.
// Threads  any.
// Ownership  the pool frees the kept blocks; blocks that have to go are handed to the caller.
class IdleStore {
  public:
    static constexpr std::uint32_t max_blocks = 1U << 18U;

    IdleStore(const SizeClasses& classes, const model::PoolSpec& spec);

    // The newest block of the class; nullptr: there is none.
    [[nodiscard]] void* take(std::uint32_t index, std::int64_t now_ns) noexcept;

    // Keeps the block if it may. `evicted`: another block has to go first, which is moved to `victim`; call again.
    // `refused`: this block has to go.
    enum class Put : std::uint8_t { kept, evicted, refused };
    [[nodiscard]] Put put(IdleBlock block, std::int64_t now_ns, IdleBlock& victim) noexcept;

    // One block that the rule chooses, while more than `keep_bytes` lie here.
    [[nodiscard]] std::optional<IdleBlock> take_beyond(std::uint64_t keep_bytes) noexcept;

    // One block that came before `since_ns`.
    [[nodiscard]] std::optional<IdleBlock> take_older(std::int64_t since_ns) noexcept;

    // Notes hits of the class elsewhere in the pool, for rules that go by use.
    void note_hits(std::uint32_t index, std::uint64_t hits, std::int64_t now_ns) noexcept;

    [[nodiscard]] std::uint32_t count(std::uint32_t index) const noexcept;

  private:
    // Numbers of nodes are 1 + their place; 0 is none.
    using Link = std::uint32_t;
    struct Node {
        void* ptr{};
        std::int64_t since_ns{};
        std::uint32_t index{};
        Link newer{}, older{};  // in its class
        Link newer_of_all{}, older_of_all{};
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
    Link unused_{};         // nodes given back, linked by `older`
    std::uint32_t used_{};  // nodes ever used
    Link newest_{}, oldest_{};
    std::uint64_t bytes_{};
};

}  // namespace memsweep::memory
