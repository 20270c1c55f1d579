// What a pool of size classes gives back, and what it says of itself.
#include <algorithm>
#include <chrono>

#include "core/memory/class_pool.hpp"

namespace memsweep::memory {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;

std::int64_t steady_ns()
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}  // namespace

// The common store first, as its rule says; then depots and stripes, the largest classes first; then caches.
std::uint64_t ClassPool::trim(std::uint64_t keep_bytes) noexcept
{
    const std::int64_t began = steady_ns();
    PoolStats now;
    add_idle(now);
    const std::uint64_t excess = now.idle_bytes > keep_bytes ? now.idle_bytes - keep_bytes : 0;
    std::uint64_t released = 0;
    while (released < excess) {
        const auto block = store_.take_beyond(0);
        if (!block) {
            break;
        }
        released += classes_.bytes_of(block->index);
        free_block(*block);
    }
    if (released < excess) {
        released += trim_depots(excess - released);
    }
    if (released < excess) {
        released += trim_caches();
    }
    if (released != 0) {
        counts_.trims.fetch_add(1, relaxed);
        counts_.trim_ns.fetch_add(static_cast<std::uint64_t>(steady_ns() - began), relaxed);
    }
    return released;
}

std::uint64_t ClassPool::trim_depots(std::uint64_t excess) noexcept
{
    std::uint64_t released = 0;
    for (std::uint32_t index = classes_.count(); index-- > 0 && released < excess;) {
        std::array<void*, 1> one{};
        while (released < excess &&
               (depot_.take(index, one) == 1 || (stripes_ && (one[0] = stripes_->take(index).ptr) != nullptr))) {
            released += classes_.bytes_of(index);
            free_block({one[0], index});
        }
    }
    return released;
}

// The caller's own, and those that threads which have ended left behind.
std::uint64_t ClassPool::trim_caches() noexcept
{
    std::uint64_t released = 0;
    for (std::uint32_t slot = 0; slot < thread_slots; ++slot) {
        const bool own = slot == current_thread_slot;
        const std::optional<SlotHold> hold =
            own ? std::optional<SlotHold>{} : std::optional<SlotHold>{std::in_place, slot};
        if (own || *hold) {
            tier_.drain(slot, [&](std::uint32_t index, void* ptr) {
                released += classes_.bytes_of(index);
                free_block({ptr, index});
            });
        }
    }
    return released;
}

void ClassPool::age() noexcept
{
    const std::int64_t now = steady_ns();
    for (std::uint32_t index = 0; index < classes_.count(); ++index) {
        std::array<void*, 64> batch{};
        std::uint32_t taken = 0;
        do {
            taken = depot_.take_unused(index, batch);
            for (void* const block : std::span{batch}.first(taken)) {
                store_or_free({block, index}, now);
            }
        } while (taken == batch.size());
    }
}

std::uint64_t ClassPool::release_older(std::int64_t since_ns) noexcept
{
    std::uint64_t released = 0;
    while (const auto block = store_.take_older(since_ns)) {
        released += classes_.bytes_of(block->index);
        free_block(*block);
    }
    return released;
}

void ClassPool::add_idle(PoolStats& stats) const noexcept
{
    const auto add = [&stats](std::uint64_t blocks, std::uint64_t bytes) {
        stats.idle_blocks += blocks;
        stats.idle_bytes += blocks * bytes;
        stats.largest_idle_bytes = blocks == 0 ? stats.largest_idle_bytes : std::max(stats.largest_idle_bytes, bytes);
    };
    for (std::uint32_t index = 0; index < classes_.count(); ++index) {
        const std::uint64_t bytes = classes_.bytes_of(index);
        if (bytes == 0) {
            continue;  // an exact size that nobody has asked for
        }
        add(std::uint64_t{depot_.count(index)} + store_.count(index) + (stripes_ ? stripes_->count(index) : 0U), bytes);
        tier_.each([&](ThreadTier::Cache& cache) { add(cache.magazine(index).count(), bytes); });
    }
}

PoolStats ClassPool::raw_stats() const noexcept
{
    PoolStats stats;
    add_idle(stats);
    stats.depot_hits = counts_.depot_hits.load(relaxed);
    stats.common_hits = counts_.common_hits.load(relaxed);
    stats.misses = counts_.misses.load(relaxed);
    stats.bypasses = counts_.bypasses.load(relaxed);
    stats.requested_bytes = counts_.requested.load(relaxed);
    stats.served_bytes = counts_.served.load(relaxed);
    stats.held_bytes = counts_.held.load(relaxed);
    stats.held_bytes_peak = counts_.held_peak.load(relaxed);
    stats.released_bytes = counts_.released.load(relaxed);
    stats.evictions = counts_.evictions.load(relaxed);
    stats.trims = counts_.trims.load(relaxed);
    stats.trim_ns = counts_.trim_ns.load(relaxed);
    stats.short_blocks = counts_.short_blocks.load(relaxed);
    tier_.each([&](ThreadTier::Cache& cache) {
        for (std::uint32_t index = 0; index < classes_.count(); ++index) {
            const ThreadTier::Magazine& magazine = cache.magazine(index);
            const std::uint64_t taken = magazine.taken.load(relaxed);
            stats.requested_bytes += magazine.requested.load(relaxed);
            stats.thread_hits += taken;
            stats.served_bytes += taken * classes_.bytes_of(index);
        }
    });
    return stats;
}

PoolStats ClassPool::stats() const noexcept
{
    PoolStats stats = raw_stats();
    const std::lock_guard lock{base_mutex_};
    for (std::uint64_t PoolStats::*sum : PoolStats::sums) {
        stats.*sum -= base_.*sum;
    }
    return stats;
}

void ClassPool::reset_counts() noexcept
{
    counts_.held_peak.store(counts_.held.load(relaxed), relaxed);
    const std::lock_guard lock{base_mutex_};
    base_ = raw_stats();
}

}  // namespace memsweep::memory
