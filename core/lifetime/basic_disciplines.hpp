// Disciplines that do with a dropped block one thing, and in a thread of the program: free it at once, never, at every
// Nth drop, or in a collection.
#pragma once

#include "core/lifetime/collector.hpp"
#include "core/lifetime/discipline.hpp"
#include "core/lifetime/floating.hpp"

namespace memsweep::lifetime {

// The two bounds on the memory that a discipline holds: freed at once, and never freed.
// Freed at once, by the thread that drops the last handle: CPython, and NumSharp since its fix.
//
// Cost     the free itself, without a counter or a lock: nothing ever floats.
class RefcountDiscipline final : public Discipline {
  public:
    using Discipline::Discipline;

    void unreachable(Block& block) noexcept override { reclaimer().free(block); }
};

// Never freed.
//
// Memory   what is dropped stays with the resource until the process ends, whatever is collected or drained.
class LeakDiscipline final : public Discipline {
  public:
    using Discipline::Discipline;

    void unreachable(Block& block) noexcept override;
    [[nodiscard]] DisciplineStats stats() const noexcept override;
    void reset_counts() noexcept override { floating_.reset(); }

  private:
    FloatingGauge floating_;
};

// Disciplines that let dropped blocks wait and free all that wait at once, in a thread of the program: at every Nth
// drop, or in a collection.
// Freed in batches: every Nth drop frees the N that wait, in the thread that made it.
//
// Cost     a list push and four atomic operations per drop; each Nth also the frees of the whole batch.
// Threads  a batch may hold a block fewer or more while several threads drop at once; all are freed, each once.
class DeferredBatchDiscipline final : public Discipline {
  public:
    // `batch` is at least 1; 1 frees at once.
    DeferredBatchDiscipline(std::uint64_t batch, Reclaimer& reclaimer) noexcept;
    ~DeferredBatchDiscipline() override;

    void unreachable(Block& block) noexcept override;
    void collect() noexcept override;
    void drain() noexcept override;
    [[nodiscard]] DisciplineStats stats() const noexcept override;
    void reset_counts() noexcept override;

  private:
    void free_waiting() noexcept;

    std::int64_t batch_;
    PendingList pending_;
    std::atomic<std::int64_t> waiting_{0};  // briefly below 0 when a block is freed before its drop has counted it
    FloatingGauge floating_;
    std::atomic<std::uint64_t> collections_{0};
};

// Freed inside a stop-the-world collection, by the thread that runs into it: Julia's arrays, CPython's cyclic garbage.
//
// Cost     per drop a list push, a clock read and counters; a collection frees everything that waits before the
//          allocation that triggered it goes on.
// Ownership  destruction frees what waits.
class SweepDiscipline final : public Discipline {
  public:
    // Of the blocks dropped, the `garbage_fraction` wait for a collection; the others are freed at once.
    SweepDiscipline(const model::ReleaseSpec& spec, double garbage_fraction, bool shadowed, Reclaimer& reclaimer);
    ~SweepDiscipline() override;

    [[nodiscard]] memory::AllocStatus before_allocate(std::uint64_t bytes) noexcept override;
    void allocation_failed(std::uint64_t bytes) noexcept override { collector_.freed(bytes); }
    void unreachable(Block& block) noexcept override;
    void freed_early(std::uint64_t bytes) noexcept override { collector_.freed_early(bytes); }
    void collect() noexcept override { sweep(true); }
    [[nodiscard]] DisciplineStats stats() const noexcept override;
    void reset_counts() noexcept override;

  private:
    [[nodiscard]] bool is_garbage() noexcept;
    void sweep(bool asked_for) noexcept;
    std::uint64_t free_pending() noexcept;

    double garbage_fraction_;
    std::atomic<std::uint64_t> dropped_{0};
    Collector collector_;
    PendingList pending_;
    FloatingGauge floating_;
};

}  // namespace memsweep::lifetime
