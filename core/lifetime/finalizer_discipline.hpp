// Finalizers and cleaners: the queue before their threads, the cap that waits for them, and the discipline of both.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "core/lifetime/collector.hpp"
#include "core/lifetime/discipline.hpp"
#include "core/lifetime/floating.hpp"
#include "core/model/specs.hpp"

namespace memsweep::lifetime {

// The f-reachable queue: blocks that a collection has found, in order, waiting for a finalizer thread.
//
// Cost     a lock per block taken; a collection locks once for all it finds.
// Memory   none per block: they are linked through themselves.
// Threads  any number of collecting and draining threads; each consuming thread has its own number, from 0.
class FinalizerQueue {
  public:
    explicit FinalizerQueue(std::size_t consumers) : in_progress_(consumers, 0) {}

    // Appends all that is pending, first pushed first, and wakes the consumers. Returns the bytes appended.
    std::uint64_t append_all(PendingList& pending) noexcept;

    // What this consumer took before is done with; waits for another. nullptr: stopped.
    [[nodiscard]] Block* finish_and_take(std::size_t consumer) noexcept;

    // Waits until every block appended before the call is done with.
    void drain() noexcept;

    // Waits until one more block is done with; false, at once, when none is in the queue.
    [[nodiscard]] bool wait_for_progress() noexcept;

    // From now on consumers get nothing; what they did not take is the caller's, linked by `next`.
    void stop() noexcept;
    [[nodiscard]] Block* take_rest() noexcept;

    [[nodiscard]] std::uint64_t depth() const noexcept;  // appended, not done with
    [[nodiscard]] std::uint64_t depth_peak() const noexcept;
    void reset_peak() noexcept;

  private:
    void finish(std::size_t consumer) noexcept;
    [[nodiscard]] std::uint64_t done_through() const noexcept;

    static constexpr std::uint64_t nobody_waits = std::numeric_limits<std::uint64_t>::max();

    mutable std::mutex mutex_;  // guards everything below
    std::condition_variable work_;
    std::condition_variable drained_;
    std::condition_variable progressed_;
    Block* first_{};
    Block* last_{};
    std::uint64_t appended_{};  // blocks are numbered from 1 in the order they are appended, which is that of taking
    std::uint64_t taken_{};
    std::uint64_t finished_{};
    std::uint64_t depth_peak_{};
    std::vector<std::uint64_t> in_progress_;    // per consumer: the number of its block, 0 for none
    std::uint64_t next_awaited_{nobody_waits};  // the lowest number that a draining thread waits for
    std::uint32_t watching_progress_{};         // threads that wait for any block to be done with
    bool stopped_{};
};

// The JVM's limit on direct buffers: bytes are reserved before an allocation and unreserved when a buffer is freed.
//
// Sources  OpenJDK, java.nio.Bits.reserveMemory: try; wait while references are being processed, trying again; collect;
//          then try, sleeping 1, 2, 4, ... 256 ms whenever no processing is pending; then OutOfMemoryError.
// Cost     one compare-and-swap per allocation below the cap.
// Threads  any.
class ReserveCap {
  public:
    explicit ReserveCap(const model::ReserveCap& spec) noexcept : spec_{spec} {}

    // `wait_for_progress` waits for one release and says false when none is under way; `collect` is System.gc().
    template <typename WaitForProgress, typename Collect>
    [[nodiscard]] bool reserve(std::uint64_t bytes, const WaitForProgress& wait_for_progress,
                               const Collect& collect) noexcept
    {
        if (try_reserve(bytes)) {
            return true;
        }
        while (wait_for_progress()) {
            if (try_reserve(bytes)) {
                return true;
            }
        }
        if (spec_.explicit_gc) {
            collect();
        }
        for (std::uint32_t slept = 0;;) {
            if (try_reserve(bytes)) {
                return true;
            }
            if (slept == spec_.sleeps) {
                return false;
            }
            if (!wait_for_progress()) {
                sleep(slept++);
            }
        }
    }

    void unreserve(std::uint64_t bytes) noexcept { reserved_.fetch_sub(bytes, relaxed); }

    [[nodiscard]] std::uint64_t sleeps() const noexcept { return sleeps_.load(relaxed); }
    [[nodiscard]] std::uint64_t slept_ns() const noexcept { return slept_ns_.load(relaxed); }
    void reset_counts() noexcept;

  private:
    [[nodiscard]] bool try_reserve(std::uint64_t bytes) noexcept;
    void sleep(std::uint32_t number) noexcept;

    model::ReserveCap spec_;
    std::atomic<std::uint64_t> reserved_{0};
    std::atomic<std::uint64_t> sleeps_{0};
    std::atomic<std::uint64_t> slept_ns_{0};
};

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
