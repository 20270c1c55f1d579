// Disciplines that keep dropped blocks and hand them out again: in one place for the whole heap, or in a cache of the
// thread that dropped them.
#include "core/lifetime/disciplines.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <mutex>

#include "core/lifetime/collector.hpp"
#include "core/lifetime/thread_cache.hpp"
#include "core/memory/clock.hpp"

namespace memsweep::lifetime {
namespace {

using model::ReleaseMode;

constexpr std::uint64_t max_class_bytes = std::uint64_t{1} << 30U;

// A pool, buffers made once, or a slot that forwards the last buffer dropped.
//
// pool          one size class per power of two, `per_size` blocks of each; what does not fit a class bypasses it, and
//               so does what lies outside its window of sizes
// preallocated  exact sizes, any number: what was made once is never given back
// forward       one slot: the last buffer dropped, if the next one has exactly its size
//
// With a pressure rule, memory acquired from the resource is registered with a collector and removed when it is freed.
// Such a collection costs its pause and finds nothing. pressure_on_idle registers again what is returned to the cache.
//
// Reused memory holds its former contents; zeros are written when they are asked for.
//
// Cost     a lock and a table look-up per allocation and per drop.
// Memory   at most limit_bytes lie idle (preallocated: no bound); 16 KiB for the table.
// Ownership  destruction frees what lies idle.
class CachingDiscipline final : public Discipline {
  public:
    CachingDiscipline(const model::ReleaseSpec& spec, Reclaimer& reclaimer) noexcept
        : Discipline{reclaimer}, spec_{spec}, collector_{spec, false}
    {
    }

    ~CachingDiscipline() override
    {
        for (Shelf& shelf : shelves_) {
            while (Block* const block = shelf.first) {
                shelf.first = block->next;
                block->freed.store(false, relaxed);
                reclaimer().free(*block);
            }
        }
    }

    [[nodiscard]] Block* reuse(std::uint64_t bytes, std::size_t alignment, bool zeroed) noexcept override
    {
        const std::uint64_t stored = stored_bytes(bytes);
        Block* found = nullptr;
        {
            const std::lock_guard lock{mutex_};
            if (bypasses(bytes)) {
                ++misses_;
                return nullptr;
            }
            Shelf& shelf = shelf_of(stored);
            Block** link = &shelf.first;
            while (*link != nullptr && ((*link)->bytes != stored || (*link)->alignment() < alignment)) {
                link = &(*link)->next;
            }
            found = *link;
            if (found == nullptr) {
                ++misses_;
                return nullptr;
            }
            *link = found->next;
            --shelf.count;
            ++hits_;
            idle_bytes_ -= found->bytes;
        }
        if (zeroed) {
            std::memset(found->data, 0, bytes);
        }
        return found;
    }

    [[nodiscard]] memory::AllocStatus acquire(Block& block, std::uint64_t bytes, std::size_t alignment,
                                              bool zeroed) noexcept override
    {
        register_pressure(stored_bytes(bytes));
        return Discipline::acquire(block, stored_bytes(bytes), alignment, zeroed);
    }

    // A full shelf frees what comes back. The forwarding slot takes the newest: it is the warm one.
    void unreachable(Block& block) noexcept override
    {
        const std::uint64_t bytes = block.bytes;
        if (keep(block)) {
            if (spec_.pressure.counts_idle) {
                register_pressure(bytes);
            }
            return;
        }
        if (spec_.mode != ReleaseMode::forward) {
            collector_.freed(bytes);
            reclaimer().free(block);
            return;
        }
        Block* older = nullptr;
        {
            const std::lock_guard lock{mutex_};
            Shelf& slot = shelves_.front();
            older = slot.first;
            slot.first = nullptr;
            slot.count = 0;
            idle_bytes_ = 0;
        }
        if (older != nullptr) {
            older->freed.store(false, relaxed);
            reclaimer().free(*older);
        }
        if (!keep(block)) {
            reclaimer().free(block);
        }
    }

    [[nodiscard]] DisciplineStats stats() const noexcept override
    {
        DisciplineStats stats;
        collector_.add_to(stats);
        const std::lock_guard lock{mutex_};
        stats.cache_hits = hits_;
        stats.cache_misses = misses_;
        stats.idle_bytes = idle_bytes_;
        return stats;
    }

    void reset_counts() noexcept override
    {
        collector_.reset_counts();
        const std::lock_guard lock{mutex_};
        hits_ = 0;
        misses_ = 0;
    }

  private:
    struct Shelf {
        Block* first{};
        std::uint32_t count{};
    };
    static constexpr std::size_t shelves = 1024;

    // Also of stored sizes: a class never reaches beyond the window.
    [[nodiscard]] bool bypasses(std::uint64_t bytes) const noexcept
    {
        return spec_.mode == ReleaseMode::pool && (bytes < spec_.cache.from_bytes || bytes > max_kept_bytes());
    }

    [[nodiscard]] std::uint64_t max_kept_bytes() const noexcept
    {
        return spec_.cache.below_bytes == 0 ? max_class_bytes : std::min(max_class_bytes, spec_.cache.below_bytes - 1);
    }

    [[nodiscard]] std::uint64_t stored_bytes(std::uint64_t bytes) const noexcept
    {
        const bool classed = spec_.mode == ReleaseMode::pool && !bypasses(bytes);
        return classed ? std::min(std::bit_ceil(bytes), max_kept_bytes()) : bytes;
    }

    [[nodiscard]] Shelf& shelf_of(std::uint64_t stored) noexcept
    {
        if (spec_.mode == ReleaseMode::forward) {
            return shelves_.front();
        }
        constexpr std::uint64_t golden = 0x9E37'79B9'7F4A'7C15;
        return shelves_[(stored * golden) >> 54U];
    }

    [[nodiscard]] bool keep(Block& block) noexcept
    {
        const std::lock_guard lock{mutex_};
        Shelf& shelf = shelf_of(block.bytes);
        if (spec_.mode == ReleaseMode::forward && shelf.first != nullptr) {
            return false;
        }
        const bool bounded = spec_.mode != ReleaseMode::preallocated;
        if (bounded && (bypasses(block.bytes) || shelf.count >= spec_.cache.per_size ||
                        idle_bytes_ + block.bytes > spec_.cache.limit_bytes)) {
            return false;
        }
        block.freed.store(true, relaxed);  // idle: nobody's
        block.next = shelf.first;
        shelf.first = &block;
        ++shelf.count;
        idle_bytes_ += block.bytes;
        return true;
    }

    void register_pressure(std::uint64_t bytes) noexcept
    {
        if (collector_.before_allocate(bytes).due != Due::no) {
            const std::int64_t began = collector_.begin_pause();
            collector_.finish({began, steady_ns(), 0, false}, true);
        }
    }

    const model::ReleaseSpec spec_;
    Collector collector_;
    mutable std::mutex mutex_;  // guards everything below
    std::array<Shelf, shelves> shelves_{};
    std::uint64_t idle_bytes_{};
    std::uint64_t hits_{};
    std::uint64_t misses_{};
};

// A bounded cache for each thread, by exact size. A buffer goes to the cache of the thread that drops it, whichever
// thread made it.
//
// Cost     see thread_cache.hpp; a heap and its handles use the cache without asking this class.
// Ownership  destruction frees what lies idle.
class TlsCacheDiscipline final : public Discipline {
  public:
    TlsCacheDiscipline(const model::ReleaseSpec& spec, Reclaimer& reclaimer)
        : Discipline{reclaimer}, cache_{spec.cache.per_size, spec.cache.limit_bytes}
    {
    }
    ~TlsCacheDiscipline() override
    {
        while (Block* const block = cache_.take_any()) {
            reclaimer().free(*block);
        }
    }

    [[nodiscard]] ThreadCache* thread_cache() noexcept override { return &cache_; }
    void unreachable(Block& block) noexcept override
    {
        if (!cache_.put(block)) {
            reclaimer().free(block);
        }
    }

    [[nodiscard]] DisciplineStats stats() const noexcept override
    {
        DisciplineStats stats;
        stats.cache_hits = cache_.hits();
        stats.cache_misses = cache_.misses();
        stats.idle_bytes = cache_.idle_bytes();
        return stats;
    }

    void reset_counts() noexcept override { cache_.reset_counts(); }

  private:
    ThreadCache cache_;
};

}  // namespace

std::unique_ptr<Discipline> make_caching(const model::ReleaseSpec& spec, Reclaimer& reclaimer)
{
    return std::make_unique<CachingDiscipline>(spec, reclaimer);
}

std::unique_ptr<Discipline> make_tls_cache(const model::ReleaseSpec& spec, Reclaimer& reclaimer)
{
    return std::make_unique<TlsCacheDiscipline>(spec, reclaimer);
}

}  // namespace memsweep::lifetime
