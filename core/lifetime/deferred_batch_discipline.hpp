// Freed in batches: every Nth drop frees the N that wait, in the thread that made it.
//
// Cost     a list push and four atomic operations per drop; each Nth also the frees of the whole batch.
// Threads  a batch may hold a block fewer or more while several threads drop at once; all are freed, each once.
#pragma once

#include "core/lifetime/discipline.hpp"
#include "core/lifetime/floating_gauge.hpp"
#include "core/lifetime/pending_list.hpp"

namespace memsweep::lifetime {

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

}  // namespace memsweep::lifetime
