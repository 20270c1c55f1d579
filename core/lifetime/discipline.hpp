// When a buffer whose last handle is gone is really freed, and by whom.
//
// A discipline can only delay a real deallocate; it never fakes one.
//
// Units    bytes, blocks, counts.
// Cost     unreachable() lies on the measured path: refcount pays the free itself, the others a list push and counters.
// Threads  every call may come from any thread at any time.
// Ownership  holds the blocks it delays; all but leak free them when they are destroyed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "core/lifetime/block.hpp"
#include "core/lifetime/reclaimer.hpp"
#include "core/model/specs.hpp"

namespace memsweep::lifetime {

// Each field is exact; while other threads work they are not all of one instant.
struct DisciplineStats {
    std::uint64_t floating_bytes{};  // last handle gone, not freed yet
    std::uint64_t floating_blocks{};
    std::uint64_t queue_depth{};  // of these: found by a collection, their release not completed
    std::uint64_t queue_depth_peak{};
    std::uint64_t floating_bytes_peak{};
    std::uint64_t collections{};
};

class Discipline {
  public:
    Discipline() = default;
    Discipline(const Discipline&) = delete;
    Discipline& operator=(const Discipline&) = delete;
    virtual ~Discipline() = default;

    // An allocation of this size is about to be made: where a collector's trigger would fire.
    virtual void before_allocate(std::uint64_t bytes) noexcept = 0;

    // The last handle on this block has just been dropped, in this thread.
    virtual void unreachable(Block& block) noexcept = 0;

    // Finds what is unreachable. With finalizers this only queues it.
    virtual void collect() noexcept = 0;

    // Returns once everything found before the call has really been freed. It does not find more.
    virtual void drain() noexcept = 0;

    [[nodiscard]] virtual DisciplineStats stats() const noexcept = 0;

    // The peaks start again from the present values.
    virtual void reset_peaks() noexcept = 0;

    void count_stray_release() noexcept { stray_releases_.fetch_add(1, std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t stray_releases() const noexcept
    {
        return stray_releases_.load(std::memory_order_relaxed);
    }

  private:
    std::atomic<std::uint64_t> stray_releases_{0};
};

[[nodiscard]] std::unique_ptr<Discipline> make_discipline(const model::ReleaseSpec& spec, Reclaimer& reclaimer);

}  // namespace memsweep::lifetime
