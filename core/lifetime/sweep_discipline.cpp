#include "core/lifetime/sweep_discipline.hpp"

#include "core/lifetime/clock.hpp"
#include "core/lifetime/fraction.hpp"

namespace memsweep::lifetime {

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
    return garbage_fraction_ >= 1 || chosen(dropped_.fetch_add(1, std::memory_order_relaxed), garbage_fraction_);
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
        const FloatingGauge::Leaving left = FloatingGauge::leaving(*block);
        reclaimer().free(*block);
        floating_.remove(left);
        collector_.freed(left.bytes);  // one by one: a trigger may count only those of some size
        freed += left.bytes;
        block = next;
    }
    return freed;
}

DisciplineStats SweepDiscipline::stats() const noexcept
{
    DisciplineStats stats;
    collector_.add_to(stats);
    stats.floating_bytes = floating_.bytes();
    stats.floating_blocks = floating_.blocks();
    stats.floating_bytes_peak = floating_.peak_bytes();
    stats.release_latency = floating_.latency();
    return stats;
}

void SweepDiscipline::reset_counts() noexcept
{
    collector_.reset_counts();
    floating_.reset();
}

}  // namespace memsweep::lifetime
