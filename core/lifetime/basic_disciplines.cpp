// Disciplines that do with a dropped block one thing, and in a thread of the program: free it at once, never, at every
// Nth drop, or in a collection.
#include "core/lifetime/disciplines.hpp"

#include "core/base/assert.hpp"
#include "core/lifetime/collector.hpp"
#include "core/lifetime/floating.hpp"
#include "core/memory/clock.hpp"

namespace memsweep::lifetime {
namespace {

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

    void unreachable(Block& block) noexcept override
    {
        floating_.add(block);
        disown(block.data);
    }

    [[nodiscard]] DisciplineStats stats() const noexcept override
    {
        DisciplineStats stats;
        floating_.add_to(stats);
        return stats;
    }

    void reset_counts() noexcept override { floating_.reset(); }

  private:
    FloatingGauge floating_;
};

// Freed in batches: every Nth drop frees the N that wait, in the thread that made it.
//
// Cost     a list push and four atomic operations per drop; each Nth also the frees of the whole batch.
// Threads  a batch may hold a block fewer or more while several threads drop at once; all are freed, each once.
class DeferredBatchDiscipline final : public Discipline {
  public:
    // `batch` is at least 1; 1 frees at once.
    DeferredBatchDiscipline(std::uint64_t batch, Reclaimer& reclaimer) noexcept
        : Discipline{reclaimer}, batch_{static_cast<std::int64_t>(batch)}
    {
        MEMSWEEP_ASSERT(batch_ > 0, "a batch holds at least one block");
    }

    ~DeferredBatchDiscipline() override { free_waiting(); }

    void unreachable(Block& block) noexcept override
    {
        floating_.add(block);
        pending_.push(block);
        if (waiting_.fetch_add(1, relaxed) + 1 >= batch_) {
            free_waiting();
        }
    }

    void collect() noexcept override
    {
        collections_.fetch_add(1, relaxed);
        free_waiting();
    }

    void drain() noexcept override { free_waiting(); }

    [[nodiscard]] DisciplineStats stats() const noexcept override
    {
        DisciplineStats stats;
        floating_.add_to(stats);
        stats.collections = collections_.load(relaxed);
        return stats;
    }

    void reset_counts() noexcept override
    {
        floating_.reset();
        collections_.store(0, relaxed);
    }

  private:
    void free_waiting() noexcept
    {
        Block* const oldest = pending_.take_all();
        std::int64_t taken = 0;
        for (const Block* counted = oldest; counted != nullptr; counted = counted->next) {
            ++taken;
        }
        waiting_.fetch_sub(taken, relaxed);
        each_of_chain(oldest, [this](Block& block) { free_floating(block, floating_); });
    }

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
    SweepDiscipline(const model::ReleaseSpec& spec, double garbage_fraction, bool shadowed, Reclaimer& reclaimer)
        : Discipline{reclaimer}, garbage_fraction_{garbage_fraction}, collector_{spec, shadowed}
    {
    }

    ~SweepDiscipline() override { free_pending(); }

    [[nodiscard]] memory::AllocStatus before_allocate(std::uint64_t bytes) noexcept override
    {
        if (collector_.before_allocate(bytes) != Due::no) {
            sweep(false);
        }
        return memory::AllocStatus::ok;
    }

    void allocation_failed(std::uint64_t bytes) noexcept override { collector_.freed(bytes); }
    void unreachable(Block& block) noexcept override
    {
        const std::uint64_t bytes = block.bytes;
        if (!is_garbage()) {
            reclaimer().free(block);
            collector_.freed_early(bytes);
            return;
        }
        floating_.add(block);
        pending_.push(block);
        collector_.dropped(bytes);
    }

    void freed_early(std::uint64_t bytes) noexcept override { collector_.freed_early(bytes); }
    void collect() noexcept override { sweep(true); }
    [[nodiscard]] DisciplineStats stats() const noexcept override
    {
        DisciplineStats stats;
        collector_.add_to(stats);
        floating_.add_to(stats);
        return stats;
    }

    void reset_counts() noexcept override
    {
        collector_.reset_counts();
        floating_.reset();
    }

  private:
    [[nodiscard]] bool is_garbage() noexcept
    {
        return garbage_fraction_ >= 1 || chosen(dropped_.fetch_add(1, relaxed), garbage_fraction_);
    }

    void sweep(bool asked_for) noexcept
    {
        const std::int64_t began = collector_.begin_pause();
        const std::uint64_t freed = free_pending();
        collector_.finish({began, steady_ns(), freed, asked_for}, true);
    }

    std::uint64_t free_pending() noexcept
    {
        std::uint64_t freed = 0;
        each_of_chain(pending_.take_all(), [this, &freed](Block& block) {
            const std::uint64_t bytes = free_floating(block, floating_);
            collector_.freed(bytes);  // one by one: a trigger may count only those of some size
            freed += bytes;
        });
        return freed;
    }

    double garbage_fraction_;
    std::atomic<std::uint64_t> dropped_{0};
    Collector collector_;
    PendingList pending_;
    FloatingGauge floating_;
};

}  // namespace

std::unique_ptr<Discipline> make_refcount(Reclaimer& reclaimer)
{
    return std::make_unique<RefcountDiscipline>(reclaimer);
}

std::unique_ptr<Discipline> make_leak(Reclaimer& reclaimer)
{
    return std::make_unique<LeakDiscipline>(reclaimer);
}

std::unique_ptr<Discipline> make_deferred_batch(std::uint64_t batch, Reclaimer& reclaimer)
{
    return std::make_unique<DeferredBatchDiscipline>(batch, reclaimer);
}

std::unique_ptr<Discipline> make_sweep(const model::ReleaseSpec& spec, double garbage_fraction, bool shadowed,
                                       Reclaimer& reclaimer)
{
    return std::make_unique<SweepDiscipline>(spec, garbage_fraction, shadowed, reclaimer);
}

}  // namespace memsweep::lifetime
