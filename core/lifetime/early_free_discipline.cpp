#include "core/lifetime/early_free_discipline.hpp"

#include "core/lifetime/basic_disciplines.hpp"
#include "core/lifetime/discipline.hpp"
#include "core/memory/clock.hpp"

namespace memsweep::lifetime {

using model::ReleaseMode;

EarlyFreeDiscipline::EarlyFreeDiscipline(const model::ReleaseSpec& spec, std::unique_ptr<Discipline> fallback,
                                         Reclaimer& reclaimer)
    : Discipline{reclaimer}, spec_{spec}, fallback_{std::move(fallback)}
{
}

memory::AllocStatus EarlyFreeDiscipline::before_allocate(std::uint64_t bytes) noexcept
{
    return fallback_ == nullptr ? memory::AllocStatus::ok : fallback_->before_allocate(bytes);
}

void EarlyFreeDiscipline::allocation_failed(std::uint64_t bytes) noexcept
{
    if (fallback_ != nullptr) {
        fallback_->allocation_failed(bytes);
    }
}

bool EarlyFreeDiscipline::shares_ownership() const noexcept
{
    return spec_.mode == ReleaseMode::unsafe_free || spec_.mode == ReleaseMode::refcount;
}

// Why this free is not carried out; `done` when it is.
ManualFree EarlyFreeDiscipline::refusal(const Block& block) noexcept
{
    if (block.freed.load(std::memory_order_acquire)) {
        double_frees_.fetch_add(shares_ownership() ? 0 : 1, relaxed);
        return ManualFree::twice;
    }
    const bool shared = block.handles.load(std::memory_order_acquire) > 1;
    if (shared && spec_.mode == ReleaseMode::must_free) {
        aliased_.fetch_add(1, relaxed);
        return ManualFree::aliased;
    }
    if (shared && shares_ownership()) {
        return ManualFree::kept;
    }
    const bool wanted = spec_.free_fraction >= 1 || chosen(asked_.fetch_add(1, relaxed), spec_.free_fraction);
    return wanted ? ManualFree::done : ManualFree::kept;
}

ManualFree EarlyFreeDiscipline::free(Block& block) noexcept
{
    if (spec_.safety.ignore_manual_free) {
        return ManualFree::disregarded;
    }
    if (const ManualFree refused = refusal(block); refused != ManualFree::done) {
        return refused;
    }
    if (spec_.mode == ReleaseMode::finalize_now) {
        spin_for(spec_.release_cost_ns * spec_.finalizer_objects);
    }
    if (!reclaimer().free_data(block)) {
        return ManualFree::twice;
    }
    freed_.fetch_add(1, relaxed);
    if (fallback_ != nullptr) {
        fallback_->freed_early(block.bytes);
    }
    return ManualFree::done;
}

void EarlyFreeDiscipline::unreachable(Block& block) noexcept
{
    if (block.freed.load(std::memory_order_acquire)) {
        reclaimer().recycle(block);
    } else if (fallback_ != nullptr) {
        fallback_->unreachable(block);
    } else {
        lost_.add(block);
        disown(block.data);
    }
}

void EarlyFreeDiscipline::collect() noexcept
{
    if (fallback_ != nullptr) {
        fallback_->collect();
    }
}

void EarlyFreeDiscipline::drain() noexcept
{
    if (fallback_ != nullptr) {
        fallback_->drain();
    }
}

DisciplineStats EarlyFreeDiscipline::stats() const noexcept
{
    DisciplineStats stats;
    if (fallback_ != nullptr) {
        stats = fallback_->stats();
    } else {
        lost_.add_to(stats);
    }
    stats.freed_early = freed_.load(relaxed);
    stats.double_frees = double_frees_.load(relaxed);
    stats.aliased_frees = aliased_.load(relaxed);
    return stats;
}

void EarlyFreeDiscipline::reset_counts() noexcept
{
    if (fallback_ != nullptr) {
        fallback_->reset_counts();
    }
    lost_.reset();
    freed_.store(0, relaxed);
    double_frees_.store(0, relaxed);
    aliased_.store(0, relaxed);
}

}  // namespace memsweep::lifetime
