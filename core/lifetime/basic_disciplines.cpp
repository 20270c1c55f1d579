// Disciplines that do with a dropped block one thing, and in a thread of the program: free it at once, never, at every
// Nth drop, or in a collection.
#include "core/lifetime/disciplines.hpp"

#include <array>
#include <limits>

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

    // Nobody frees by hand here, and the last handle goes once.
    void unreachable(Block& block) noexcept override { reclaimer().free_alone(block); }
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
// Where a trigger counts containers, blocks have ages: one that was reachable at a collection is found by those alone
// that look at older ones too. The array being made is as old as the collection that its containers bring about.
//
// Cost     per drop a list push, a clock read and counters; a collection frees everything that it finds before the
//          allocation that triggered it goes on. With ages a clock read more per allocation.
// Ownership  destruction frees what waits.
class SweepDiscipline final : public Discipline {
  public:
    // The `garbage_fraction` of the blocks dropped waits for a collection; the others are freed at once.
    SweepDiscipline(const model::ReleaseSpec& spec, double garbage_fraction, bool shadowed, Reclaimer& reclaimer)
        : Discipline{reclaimer}, garbage_fraction_{garbage_fraction}, has_ages_{spec.cycle.generation0 != 0},
          collector_{spec, shadowed}
    {
    }

    ~SweepDiscipline() override { free_pending(Generation::oldest); }

    [[nodiscard]] memory::AllocStatus before_allocate(std::uint64_t bytes) noexcept override
    {
        if (has_ages_) {
            made_ns_.store(steady_ns(), relaxed);
        }
        for (Request request = collector_.before_allocate(bytes); request.due != Due::no;
             request = collector_.again()) {
            sweep(request.generation, false);
        }
        return memory::AllocStatus::ok;
    }

    [[nodiscard]] memory::AllocStatus acquire(Block& block, std::uint64_t bytes, std::size_t alignment,
                                              bool zeroed) noexcept override
    {
        block.since_ns = made_ns_.load(relaxed);
        return Discipline::acquire(block, bytes, alignment, zeroed);
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
        PendingList& pending = pending_of(generation_of(block));
        floating_.add(block);
        pending.push(block);
        collector_.dropped(bytes);
    }

    void freed_early(std::uint64_t bytes) noexcept override { collector_.freed_early(bytes); }
    void collect() noexcept override { sweep(Generation::oldest, true); }
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

    void sweep(Generation generation, bool asked_for) noexcept
    {
        const std::int64_t began = collector_.begin_pause();
        survived_ns_.store(began, relaxed);
        if (generation != Generation::youngest) {
            survived_older_ns_.store(began, relaxed);
        }
        const std::uint64_t freed = free_pending(generation);
        collector_.finish({began, steady_ns(), freed, asked_for}, true);
    }

    std::uint64_t free_pending(Generation oldest) noexcept
    {
        std::uint64_t freed = 0;
        for (const Generation generation : {Generation::youngest, Generation::middle, Generation::oldest}) {
            if (generation > oldest) {
                break;
            }
            each_of_chain(pending_of(generation).take_all(), [this, &freed](Block& block) {
                const std::uint64_t bytes = free_floating(block, floating_);
                collector_.freed(bytes);  // one by one: a trigger may count only those of some size
                freed += bytes;
            });
        }
        return freed;
    }

    // Each collection that a block survives moves it on to the generation above those looked at.
    [[nodiscard]] Generation generation_of(const Block& block) const noexcept
    {
        if (!has_ages_ || block.since_ns > survived_ns_.load(relaxed)) {
            return Generation::youngest;
        }
        return block.since_ns > survived_older_ns_.load(relaxed) ? Generation::middle : Generation::oldest;
    }

    [[nodiscard]] PendingList& pending_of(Generation generation) noexcept
    {
        return pending_[static_cast<std::size_t>(generation)];
    }

    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min();

    double garbage_fraction_;
    bool has_ages_;
    std::atomic<std::uint64_t> dropped_{0};
    std::atomic<std::int64_t> made_ns_{0};                // when the last array began to be made
    std::atomic<std::int64_t> survived_ns_{never};        // what is older has been through a collection,
    std::atomic<std::int64_t> survived_older_ns_{never};  // ... through one of the middle generation
    Collector collector_;
    std::array<PendingList, 3> pending_;  // by generation
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
