// Found by a collection and freed later by another thread: finalizers (.NET, Mono) and cleaners (the JVM's direct
// buffers).
//
// A dropped block waits on a list that only a collection reads. The collection moves what it finds to a queue and
// signals; real threads take blocks from the queue one at a time and free them. Only the time of the collections is
// modelled.
//
// Sources  CoreCLR's finalizer machinery (finalizerthread.cpp): a blocking collection does not wait for finalizers,
//          WaitForPendingFinalizers does, and finds nothing itself; collections that pressure asks for run beside the
//          program. OpenJDK's Bits.reserveMemory for the cap.
// Cost     per drop a list push, a clock read and three counters. The finalizer threads pay for the frees, and for
//          release_cost of busy time before each.
// Errors   over_limit when a cap is reached and neither a collection nor waiting helped. The process stops with a
//          message when the kernel refuses a thread: the measurement would be another one.
// Ownership  destruction stops the threads after the block that each is working on, then frees the rest itself, at no
//          modelled cost.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "core/lifetime/collector.hpp"
#include "core/lifetime/discipline.hpp"
#include "core/lifetime/finalizer_queue.hpp"
#include "core/lifetime/floating.hpp"
#include "core/lifetime/reserve_cap.hpp"

namespace memsweep::lifetime {

class FinalizerDiscipline final : public Discipline {
  public:
    // spec.finalizer_threads is at least 1. `shadowed`: the program frees some of its memory itself.
    FinalizerDiscipline(const model::ReleaseSpec& spec, bool shadowed, Reclaimer& reclaimer);
    ~FinalizerDiscipline() override;

    [[nodiscard]] memory::AllocStatus before_allocate(std::uint64_t bytes) noexcept override;
    void allocation_failed(std::uint64_t bytes) noexcept override { unreserve(bytes); }
    void unreachable(Block& block) noexcept override;
    void freed_early(std::uint64_t bytes) noexcept override;
    void collect() noexcept override { find(true); }
    void drain() noexcept override;
    [[nodiscard]] DisciplineStats stats() const noexcept override;
    void reset_counts() noexcept override;

  private:
    void start_threads();
    void finalize(std::size_t consumer) noexcept;
    [[nodiscard]] bool resurrects(Block& block) noexcept;
    void reclaim(Block& block) noexcept;
    void unreserve(std::uint64_t bytes) noexcept;
    void find(bool asked_for) noexcept;
    void find_beside_the_program() noexcept;
    void request_background() noexcept;

    const model::ReleaseSpec spec_;
    Collector collector_;
    ReserveCap cap_;
    PendingList pending_;
    FinalizerQueue queue_;
    FloatingGauge floating_;
    std::atomic<std::uint64_t> registered_{0};
    std::atomic<std::uint64_t> finalized_{0};
    std::vector<std::thread> threads_;

    std::mutex background_mutex_;  // guards the three below
    std::condition_variable background_changed_;
    bool background_wanted_{};
    bool background_busy_{};
    bool background_stopped_{};
    std::thread background_;
};

}  // namespace memsweep::lifetime
