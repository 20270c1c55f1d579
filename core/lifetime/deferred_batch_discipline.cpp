#include "core/lifetime/deferred_batch_discipline.hpp"

#include "core/base/assert.hpp"

namespace memsweep::lifetime {

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
    if (waiting_.fetch_add(1, std::memory_order_relaxed) + 1 >= batch_) {
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
    waiting_.fetch_sub(taken, std::memory_order_relaxed);
    while (block != nullptr) {
        Block* const next = block->next;
        const FloatingGauge::Leaving left = FloatingGauge::leaving(*block);
        reclaimer().free(*block);
        floating_.remove(left);
        block = next;
    }
}

void DeferredBatchDiscipline::collect() noexcept
{
    collections_.fetch_add(1, std::memory_order_relaxed);
    free_waiting();
}

void DeferredBatchDiscipline::drain() noexcept
{
    free_waiting();
}

DisciplineStats DeferredBatchDiscipline::stats() const noexcept
{
    DisciplineStats stats;
    stats.floating_bytes = floating_.bytes();
    stats.floating_blocks = floating_.blocks();
    stats.floating_bytes_peak = floating_.peak_bytes();
    stats.collections = collections_.load(std::memory_order_relaxed);
    stats.release_latency = floating_.latency();
    return stats;
}

void DeferredBatchDiscipline::reset_counts() noexcept
{
    floating_.reset();
    collections_.store(0, std::memory_order_relaxed);
}

}  // namespace memsweep::lifetime
