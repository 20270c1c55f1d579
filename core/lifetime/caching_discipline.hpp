// Kept at the drop and handed out again: a pool, buffers made once, a slot that forwards the last one dropped.
//
// pool          one size class per power of two, `per_size` blocks of each; what does not fit a class bypasses it, and
//               so does what lies outside its window of sizes
// preallocated  exact sizes, any number: what was made once is never given back
// forward       one slot: the last buffer dropped, if the next one has exactly its size
//
// With a pressure rule, memory acquired from the resource is registered with a collector, and removed when it is freed;
// a collection costs its pause and finds nothing. pressure_on_idle registers what is returned once more.
//
// Reused memory holds its former contents; zeros are written when they are asked for.
// Cost     a lock and a table look-up per allocation and per drop.
// Memory   at most limit_bytes lie idle (preallocated: no bound); 16 KiB for the table.
// Ownership  destruction frees what lies idle.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>

#include "core/lifetime/collector.hpp"
#include "core/lifetime/discipline.hpp"

namespace memsweep::lifetime {

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
    [[nodiscard]] std::uint64_t largest_kept() const noexcept;
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

}  // namespace memsweep::lifetime
