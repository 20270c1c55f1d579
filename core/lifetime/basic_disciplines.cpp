#include "core/lifetime/basic_disciplines.hpp"

#include "core/base/assert.hpp"
#include "core/lifetime/discipline.hpp"
#include "core/memory/clock.hpp"

namespace memsweep::lifetime {

void LeakDiscipline::unreachable(Block& block) noexcept
{
    floating_.add(block);
    disown(block.data);
}

DisciplineStats LeakDiscipline::stats() const noexcept
{
    DisciplineStats stats;
    floating_.add_to(stats);
    return stats;
}

DeferredBatchDiscipline::DeferredBatchDiscipline(std::uint64_t batch, Reclaimer& reclaimer) noexcept
    : Discipline{reclaimer}, batch_{static_cast<std::int64_t>(batch)}
{
    MEMSWEEP_ASSERT(batch_ > 0, "a batch holds at least one block");
}

DeferredBatchDiscipline::~DeferredBatchDiscipline()
{
    free_waiting();
}

void DeferredBatchDiscipline::unreachable(Block& block) noexcept
{
    floating_.add(block);
    pending_.push(block);
    if (waiting_.fetch_add(1, relaxed) + 1 >= batch_) {
        free_waiting();
    }
}

void DeferredBatchDiscipline::free_waiting() noexcept
{
    Block* block = pending_.take_all();
    std::int64_t taken = 0;
    for (const Block* counted = block; counted != nullptr; counted = counted->next) {
        ++taken;
    }
    waiting_.fetch_sub(taken, relaxed);
    while (block != nullptr) {
        Block* const next = block->next;
        free_floating(*block, floating_);
        block = next;
    }
}

void DeferredBatchDiscipline::collect() noexcept
{
    collections_.fetch_add(1, relaxed);
    free_waiting();
}

void DeferredBatchDiscipline::drain() noexcept
{
    free_waiting();
}

DisciplineStats DeferredBatchDiscipline::stats() const noexcept
{
    DisciplineStats stats;
    floating_.add_to(stats);
    stats.collections = collections_.load(relaxed);
    return stats;
}

void DeferredBatchDiscipline::reset_counts() noexcept
{
    floating_.reset();
    collections_.store(0, relaxed);
}

SweepDiscipline::SweepDiscipline(const model::ReleaseSpec& spec, double garbage_fraction, bool shadowed,
                                 Reclaimer& reclaimer)
    : Discipline{reclaimer}, garbage_fraction_{garbage_fraction}, collector_{spec, shadowed}
{
}

SweepDiscipline::~SweepDiscipline()
{
    free_pending();
}

bool SweepDiscipline::is_garbage() noexcept
{
    return garbage_fraction_ >= 1 || chosen(dropped_.fetch_add(1, relaxed), garbage_fraction_);
}

void SweepDiscipline::unreachable(Block& block) noexcept
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

memory::AllocStatus SweepDiscipline::before_allocate(std::uint64_t bytes) noexcept
{
    if (collector_.before_allocate(bytes) != Due::no) {
        sweep(false);
    }
    return memory::AllocStatus::ok;
}

void SweepDiscipline::sweep(bool asked_for) noexcept
{
    const std::int64_t began = collector_.begin_pause();
    const std::uint64_t freed = free_pending();
    collector_.finish({began, steady_ns(), freed, asked_for}, true);
}

std::uint64_t SweepDiscipline::free_pending() noexcept
{
    std::uint64_t freed = 0;
    for (Block* block = pending_.take_all(); block != nullptr;) {
        Block* const next = block->next;
        const std::uint64_t bytes = free_floating(*block, floating_);
        collector_.freed(bytes);  // one by one: a trigger may count only those of some size
        freed += bytes;
        block = next;
    }
    return freed;
}

DisciplineStats SweepDiscipline::stats() const noexcept
{
    DisciplineStats stats;
    collector_.add_to(stats);
    floating_.add_to(stats);
    return stats;
}

void SweepDiscipline::reset_counts() noexcept
{
    collector_.reset_counts();
    floating_.reset();
}

}  // namespace memsweep::lifetime
