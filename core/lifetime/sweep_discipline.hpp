// Freed inside a stop-the-world collection, by the thread that runs into it: Julia's arrays, CPython's cyclic garbage.
//
// Cost     per drop a list push, a clock read and counters; a collection frees everything that waits before the
//          allocation that triggered it goes on.
// Ownership  destruction frees what waits.
#pragma once

#include "core/lifetime/collector.hpp"
#include "core/lifetime/discipline.hpp"
#include "core/lifetime/floating_gauge.hpp"
#include "core/lifetime/pending_list.hpp"

namespace memsweep::lifetime {

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
