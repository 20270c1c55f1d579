// Disciplines that keep dropped blocks and hand them out again: in one place for the whole heap, or in a cache of the
// thread that dropped them.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>

#include "core/lifetime/collector.hpp"
#include "core/lifetime/discipline.hpp"
#include "core/lifetime/thread_cache.hpp"

namespace memsweep::lifetime {

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
    CachingDiscipline(const model::ReleaseSpec& spec, Reclaimer& reclaimer) noexcept;
    ~CachingDiscipline() override;

    [[nodiscard]] Block* reuse(std::uint64_t bytes, std::size_t alignment, bool zeroed) noexcept override;
    [[nodiscard]] memory::AllocStatus acquire(Block& block, std::uint64_t bytes, std::size_t alignment,
                                              bool zeroed) noexcept override;
    void unreachable(Block& block) noexcept override;
    [[nodiscard]] DisciplineStats stats() const noexcept override;
    void reset_counts() noexcept override;

  private:
    struct Shelf {
        Block* first{};
        std::uint32_t count{};
    };
    static constexpr std::size_t shelves = 1024;

    // Also of stored sizes: a class never reaches beyond the window.
    [[nodiscard]] bool bypasses(std::uint64_t bytes) const noexcept;
    [[nodiscard]] std::uint64_t max_kept_bytes() const noexcept;
    [[nodiscard]] std::uint64_t stored_bytes(std::uint64_t bytes) const noexcept;
    [[nodiscard]] Shelf& shelf_of(std::uint64_t stored) noexcept;
    [[nodiscard]] bool keep(Block& block) noexcept;
    void register_pressure(std::uint64_t bytes) noexcept;

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
    ~TlsCacheDiscipline() override;

    [[nodiscard]] ThreadCache* thread_cache() noexcept override { return &cache_; }
    void unreachable(Block& block) noexcept override;
    [[nodiscard]] DisciplineStats stats() const noexcept override;
    void reset_counts() noexcept override { cache_.reset_counts(); }

  private:
    ThreadCache cache_;
};

}  // namespace memsweep::lifetime
