#include "core/lifetime/disciplines.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include "core/base/assert.hpp"
#include "core/lifetime/collector.hpp"
#include "core/lifetime/finalizer_queue.hpp"
#include "core/lifetime/floating.hpp"
#include "core/lifetime/reserve_cap.hpp"
#include "core/memory/clock.hpp"
#include "core/model/specs.hpp"

namespace memsweep::lifetime {
namespace {

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
// Errors   over_limit when a cap is reached and neither a collection nor waiting helped; std::system_error where the
//          kernel refuses a thread: the measurement would be another one.
// Ownership  destruction stops the threads after the block that each is working on, then frees the rest itself, at no
//          modelled cost.
class FinalizerDiscipline final : public Discipline {
  public:
    // spec.finalizer_threads is at least 1. `shadowed`: the program frees some of its memory itself.
    FinalizerDiscipline(const model::ReleaseSpec& spec, bool shadowed, Reclaimer& reclaimer)
        : Discipline{reclaimer}, spec_{spec}, collector_{spec, shadowed}, cap_{spec.cap}, queue_{spec.finalizer_threads}
    {
        MEMSWEEP_ASSERT(spec.finalizer_threads != 0, "without a finalizer thread nothing would ever be freed");
        start_threads();
    }

    ~FinalizerDiscipline() override
    {
        {
            const std::lock_guard lock{background_mutex_};
            background_stopped_ = true;
        }
        background_changed_.notify_all();
        if (background_.joinable()) {
            background_.join();
        }
        end_threads();
        static_cast<void>(queue_.append_all(pending_));
        each_of_chain(queue_.take_rest(), [this](Block& block) { reclaim(block); });
    }

    [[nodiscard]] memory::AllocStatus before_allocate(std::uint64_t bytes) noexcept override
    {
        registered_.fetch_add(spec_.finalizer_objects, relaxed);
        const bool reserved = cap_.reserve(
            bytes, [this] { return queue_.wait_for_progress(); }, [this] { find(true); });
        if (!reserved) {
            return memory::AllocStatus::over_limit;
        }
        const Due due = collector_.before_allocate(bytes).due;
        if (due == Due::background && spec_.gc_duration_ns != 0) {
            request_background();
        } else if (due != Due::no) {
            find(false);
        }
        if (due != Due::no && spec_.gated) {
            drain();
        }
        return memory::AllocStatus::ok;
    }

    void allocation_failed(std::uint64_t bytes) noexcept override { unreserve(bytes); }
    void unreachable(Block& block) noexcept override
    {
        const std::uint64_t bytes = block.bytes;
        floating_.add(block);
        pending_.push(block);
        collector_.dropped(bytes);
    }

    void freed_early(std::uint64_t bytes) noexcept override
    {
        unreserve(bytes);
        collector_.freed_early(bytes);
    }

    void collect() noexcept override { find(true); }
    // A collection that runs beside the program has been found by nobody yet: it is waited for too.
    void drain() noexcept override
    {
        {
            std::unique_lock lock{background_mutex_};
            background_changed_.wait(lock, [this] { return !background_wanted_ && !background_busy_; });
        }
        queue_.drain();
    }

    [[nodiscard]] DisciplineStats stats() const noexcept override
    {
        DisciplineStats stats;
        collector_.add_to(stats);
        floating_.add_to(stats);
        stats.queue_depth = queue_.depth();
        stats.queue_depth_peak = queue_.depth_peak();
        stats.stalls = cap_.sleeps();
        stats.stall_ns = cap_.slept_ns();
        stats.finalizers_registered = registered_.load(relaxed);
        return stats;
    }

    void reset_counts() noexcept override
    {
        collector_.reset_counts();
        cap_.reset_counts();
        floating_.reset();
        queue_.reset_peak();
        registered_.store(0, relaxed);
    }

  private:
    void start_threads()
    {
        threads_.reserve(spec_.finalizer_threads);
        try {
            for (std::size_t consumer = 0; consumer < spec_.finalizer_threads; ++consumer) {
                threads_.emplace_back([this, consumer] { finalize(consumer); });
            }
            if (spec_.gc_duration_ns != 0) {
                background_ = std::thread{[this] { find_beside_the_program(); }};
            }
        } catch (const std::system_error&) {
            end_threads();
            throw;
        }
    }

    void end_threads() noexcept
    {
        queue_.stop();
        for (std::thread& thread : threads_) {
            thread.join();
        }
    }

    void finalize(std::size_t consumer) noexcept
    {
        if (spec_.finalizer_nice != 0) {
            ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), static_cast<int>(spec_.finalizer_nice));
        }
        while (Block* const block = queue_.finish_and_take(consumer)) {
            spin_for(spec_.release_cost_ns * spec_.finalizer_objects);
            if (!resurrects(*block)) {
                reclaim(*block);
            }
        }
    }

    // A finalizer that stores its object keeps it alive; a later collection finds it again.
    [[nodiscard]] bool resurrects(Block& block) noexcept
    {
        if (spec_.resurrect_every == 0 || block.resurrected) {
            return false;
        }
        block.resurrected = finalized_.fetch_add(1, relaxed) % spec_.resurrect_every == 0;
        if (block.resurrected) {
            pending_.push(block);
        }
        return block.resurrected;
    }

    void reclaim(Block& block) noexcept
    {
        const std::uint64_t bytes = free_floating(block, floating_);
        unreserve(bytes);
        collector_.freed(bytes);
    }

    void unreserve(std::uint64_t bytes) noexcept
    {
        if (spec_.cap.bytes != 0) {
            cap_.unreserve(bytes);
        }
    }

    void find(bool asked_for) noexcept
    {
        const std::int64_t began = collector_.begin_pause();
        const std::uint64_t found = queue_.append_all(pending_);
        collector_.finish({began, steady_ns(), found, asked_for}, true);
    }

    // What becomes unreachable while it runs is the next collection's.
    void find_beside_the_program() noexcept
    {
        std::unique_lock lock{background_mutex_};
        for (;;) {
            background_changed_.wait(lock, [this] { return background_wanted_ || background_stopped_; });
            if (background_stopped_) {
                return;
            }
            background_wanted_ = false;
            background_busy_ = true;
            lock.unlock();
            const std::int64_t began = steady_ns();
            PendingList found;
            found.push_all(pending_.take_all());
            std::this_thread::sleep_for(std::chrono::nanoseconds{static_cast<std::int64_t>(spec_.gc_duration_ns)});
            const std::uint64_t bytes = queue_.append_all(found);
            collector_.finish({began, steady_ns(), bytes, false}, false);
            lock.lock();
            background_busy_ = false;
            background_changed_.notify_all();
        }
    }

    void request_background() noexcept
    {
        {
            const std::lock_guard lock{background_mutex_};
            background_wanted_ = background_wanted_ || !background_busy_;
        }
        background_changed_.notify_all();
    }

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

}  // namespace

std::unique_ptr<Discipline> make_finalizer(const model::ReleaseSpec& spec, bool shadowed, Reclaimer& reclaimer)
{
    return std::make_unique<FinalizerDiscipline>(spec, shadowed, reclaimer);
}

}  // namespace memsweep::lifetime
