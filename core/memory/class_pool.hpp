// A pool of size classes. A freed block goes into the cache of the thread that frees it. If the cache is full, blocks
// move on to the depot of their class, and from there to a common store that records since when each block has been
// idle. In a striped pool, freed blocks go into stripes instead (see pool_tiers.hpp). A request that fits no class goes
// to the upstream.
//
// Units    bytes.
// Cost     a hit in the thread's own cache takes a few nanoseconds: a table look-up and plain loads and stores, without
//          a lock or a locked instruction. If freed blocks are cleared, or if the pool aligns blocks less strictly than
//          malloc, the size class must be looked up too. An access to the depot takes the lock of the class; an access
//          to the common store takes one lock for all classes.
// Memory   idle blocks: at most `thread_bytes` per class and thread, `depot_bytes` per class, and `limit_bytes` in the
//          common store. Also see Pool.
// Threads  any. trim takes blocks from the common store, then from the depots, then from the caches of the calling
//          thread and of ended threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <optional>

#include "core/base/barrier.hpp"
#include "core/memory/alignment.hpp"
#include "core/memory/pool.hpp"
#include "core/memory/pool_tiers.hpp"
#include "core/memory/size_classes.hpp"
#include "core/memory/thread_slot.hpp"

namespace memsweep::memory {

class ClassPool final : public Pool {
  public:
    ClassPool(const model::PoolSpec& spec, MemoryResource& upstream);
    ~ClassPool() override;

    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override
    {
        void* const block = take_own(bytes, alignment);
        return block != nullptr ? Allocation{block, AllocStatus::ok} : allocate_shared(bytes, alignment, false);
    }

    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override
    {
        void* const block = spec_.zeros == model::ZeroRule::fresh ? nullptr : take_own(bytes, alignment);
        if (block == nullptr) {
            return allocate_shared(bytes, alignment, true);
        }
        clear_if_asked(block, bytes);
        return {block, AllocStatus::ok};
    }

    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override
    {
        ThreadTier::Magazine* const own = aligns_so(alignment) ? tier_.recall(bytes) : nullptr;
        if (own == nullptr || !own->put(ptr)) {
            deallocate_shared(ptr, bytes, alignment);
        }
    }

    std::uint64_t trim(std::uint64_t keep_bytes) noexcept override;
    [[nodiscard]] PoolStats stats() const noexcept override;
    void reset_counts() noexcept override;

    void age() noexcept override;
    std::uint64_t release_older(std::int64_t since_ns) noexcept override;

  private:
    static constexpr auto relaxed = std::memory_order_relaxed;
    static constexpr std::uint32_t max_thread_blocks = 62;

    struct alignas(64) SharedCounts {
        std::atomic<std::uint64_t> depot_hits{0}, common_hits{0}, misses{0}, bypasses{0};
        std::atomic<std::uint64_t> requested{0}, served{0}, held{0}, held_peak{0};
        std::atomic<std::uint64_t> released{0}, evictions{0}, trims{0}, trim_ns{0}, short_blocks{0};
    };

    [[nodiscard]] std::uint32_t index_of(std::size_t bytes, std::size_t alignment) noexcept
    {
        return is_power_of_two(alignment) && alignment <= spec_.alignment ? classes_.index_of(bytes)
                                                                          : SizeClasses::none;
    }

    // Whether blocks of a remembered size (see remember) have the requested alignment. If the alignment is a constant,
    // the compiler evaluates the first comparison.
    [[nodiscard]] bool aligns_so(std::size_t alignment) const noexcept
    {
        return alignment <= alignof(std::max_align_t) || alignment <= spec_.alignment;
    }

    [[nodiscard]] void* take_own(std::size_t bytes, std::size_t alignment) noexcept
    {
        const bool served = is_power_of_two(alignment) && aligns_so(alignment);
        ThreadTier::Magazine* const own = served ? tier_.recall(bytes) : nullptr;
        return own == nullptr ? nullptr : own->take(bytes);
    }

    void clear_if_asked(void* block, std::size_t bytes) const noexcept
    {
        if (spec_.zeros == model::ZeroRule::on_take) {
            std::memset(block, 0, bytes);
            base::keep_stores(block);
        }
    }

    [[nodiscard]] Allocation allocate_shared(std::size_t bytes, std::size_t alignment, bool zeroed) noexcept;
    [[nodiscard]] Allocation bypass(std::size_t bytes, std::size_t alignment, bool zeroed) noexcept;
    [[nodiscard]] Allocation from_upstream(std::size_t bytes, std::size_t alignment, bool zeroed) noexcept;
    [[nodiscard]] Allocation make_block(std::uint32_t index, std::size_t bytes, bool zeroed) noexcept;
    [[nodiscard]] void* reuse(std::uint32_t index, std::size_t bytes) noexcept;
    void remember(ThreadTier::Cache& cache, std::size_t bytes, ThreadTier::Magazine& own) const noexcept;
    [[nodiscard]] ThreadTier::Magazine* open_magazine(ThreadTier::Cache* cache, std::uint32_t index) const noexcept;
    [[nodiscard]] void* refill(std::uint32_t index, ThreadTier::Cache* cache) noexcept;
    [[nodiscard]] void* take_striped(std::uint32_t index) noexcept;

    void deallocate_shared(void* ptr, std::size_t bytes, std::size_t alignment) noexcept;
    [[nodiscard]] bool put_own(std::uint32_t index, void* ptr, std::size_t bytes) noexcept;
    void put_shared(std::uint32_t index, std::span<void* const> blocks) noexcept;
    void store_or_free(IdleBlock block, std::int64_t now_ns) noexcept;
    std::uint64_t free_block(IdleBlock block) noexcept;  // returns the block's size

    void prepare_own_cache() noexcept;
    [[nodiscard]] std::uint32_t thread_capacity(std::uint32_t index) const noexcept;
    [[nodiscard]] std::uint32_t depot_capacity(std::uint32_t index) const noexcept;
    [[nodiscard]] bool has_idle(std::uint32_t index) noexcept;
    [[nodiscard]] PoolStats raw_stats() const noexcept;
    void add_idle(PoolStats& stats) const noexcept;
    [[nodiscard]] std::uint64_t trim_depots(std::uint64_t excess) noexcept;
    [[nodiscard]] std::uint64_t trim_caches() noexcept;

    const model::PoolSpec spec_;
    MemoryResource& upstream_;
    SizeClasses classes_;
    ThreadTier tier_;
    Depot depot_;
    std::optional<Stripes> stripes_;
    IdleStore store_;
    SharedCounts counts_;
    mutable std::mutex base_mutex_;
    // The counts at the last call of reset_counts; stats() subtracts them. The counts in thread caches cannot be reset,
    // because only their own threads may write them.
    PoolStats base_;
};

}  // namespace memsweep::memory
