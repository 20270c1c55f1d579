// Found by a collection, freed later by a finalizer thread: .NET, Mono.
//
// A dropped block waits on a list that only a collection looks at; the collection moves what it finds to a queue and
// signals; a real thread takes blocks from the queue one at a time and frees them. Only the trigger is modelled.
//
// Sources  CoreCLR's finalizer machinery (finalizerthread.cpp): a blocking collection does not wait for finalizers,
//          WaitForPendingFinalizers does, and finds nothing itself.
// Cost     per drop a list push and three counters; before an allocation one compare-and-swap when collect_every is
//          set; the frees, and release_cost_ns of busy time before each, are the finalizer threads'.
// Errors   the process stops with a message when the kernel refuses a thread: the measurement would be another one.
// Ownership  destruction stops the threads after the block each is working on, then frees the rest itself, at no
//          modelled cost.
#pragma once

#include <thread>
#include <vector>

#include "core/lifetime/discipline.hpp"
#include "core/lifetime/finalizer_queue.hpp"
#include "core/lifetime/floating_gauge.hpp"
#include "core/lifetime/pending_list.hpp"

namespace memsweep::lifetime {

class FinalizerDiscipline final : public Discipline {
  public:
    // spec.finalizer_threads is at least 1.
    FinalizerDiscipline(const model::ReleaseSpec& spec, Reclaimer& reclaimer);
    ~FinalizerDiscipline() override;

    void before_allocate(std::uint64_t bytes) noexcept override;
    void unreachable(Block& block) noexcept override;
    void collect() noexcept override;
    void drain() noexcept override { queue_.drain(); }
    [[nodiscard]] DisciplineStats stats() const noexcept override;
    void reset_peaks() noexcept override;

  private:
    void start_threads();
    void finalize(std::size_t consumer) noexcept;
    [[nodiscard]] bool is_due() noexcept;
    void find() noexcept;
    void free(Block& block) noexcept;

    const model::ReleaseSpec spec_;
    Reclaimer& reclaimer_;
    PendingList pending_;
    FinalizerQueue queue_;
    FloatingGauge floating_;
    std::atomic<std::uint64_t> allocations_since_{0};  // the last collection
    std::atomic<std::uint64_t> collections_{0};
    std::vector<std::thread> threads_;
};

}  // namespace memsweep::lifetime
