#include "core/memory/class_pool.hpp"

#include <algorithm>
#include <thread>

#include "core/base/assert.hpp"
#include "core/memory/clock.hpp"

namespace memsweep::memory {
namespace {

void count(std::atomic<std::uint64_t>& counter, std::uint64_t amount = 1)
{
    counter.fetch_add(amount, std::memory_order_relaxed);
}

std::uint32_t bounded(std::uint32_t blocks, std::uint64_t limit_bytes, std::uint64_t block_bytes)
{
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(blocks, limit_bytes / std::max<std::uint64_t>(block_bytes, 1)));
}

std::uint32_t stripes_of(const model::PoolSpec& spec)
{
    return spec.stripes != 0 ? spec.stripes : std::max(1U, std::thread::hardware_concurrency());
}

bool goes_by_use(model::Eviction rule)
{
    return rule == model::Eviction::lru || rule == model::Eviction::lfu;
}

}  // namespace

ClassPool::ClassPool(const model::PoolSpec& spec, MemoryResource& upstream)
    : spec_{spec}, upstream_{upstream}, classes_{spec},
      tier_{classes_.count(), std::min(spec.thread_blocks, max_thread_blocks)},
      depot_{classes_.count(), spec.depot_blocks}, store_{classes_, spec}
{
    if (spec.topology == model::PoolTopology::striped) {
        stripes_.emplace(stripes_of(spec), classes_.count(), spec.depot_blocks);
    } else {
        prepare_own_cache();
    }
}

ClassPool::~ClassPool()
{
    for (std::uint32_t slot = 0; slot < thread_slots; ++slot) {
        tier_.drain(slot, [this](std::uint32_t index, void* ptr) { free_block({ptr, index}); });
    }
    static_cast<void>(trim(0));
}

// The thread that makes the pool is most often the one that uses it: the pages of its cache are written now, so that
// they are not among the faults of what is measured.
void ClassPool::prepare_own_cache() noexcept
{
    ThreadTier::Cache* const cache = tier_.find_or_make();
    for (std::uint32_t index = 0; cache != nullptr && index < classes_.count(); ++index) {
        cache->magazine(index).capacity = 0;
    }
}

std::uint32_t ClassPool::thread_capacity(std::uint32_t index) const noexcept
{
    return bounded(std::min(spec_.thread_blocks, max_thread_blocks), spec_.thread_bytes, classes_.bytes_of(index));
}

std::uint32_t ClassPool::depot_capacity(std::uint32_t index) const noexcept
{
    return bounded(spec_.depot_blocks, spec_.depot_bytes, classes_.bytes_of(index));
}

Allocation ClassPool::allocate_shared(std::size_t bytes, std::size_t alignment, bool zeroed) noexcept
{
    const std::uint32_t index = index_of(bytes, alignment);
    if (index == SizeClasses::none) {
        return bypass(bytes, alignment, zeroed);
    }
    if (!zeroed || spec_.zeros != model::ZeroRule::fresh) {
        if (void* const block = reuse(index, bytes); block != nullptr) {
            if (zeroed) {
                clear_if_asked(block, bytes);
            }
            return {block, AllocStatus::ok};
        }
    }
    return make_block(index, bytes, zeroed);
}

Allocation ClassPool::from_upstream(std::size_t bytes, std::size_t alignment, bool zeroed) noexcept
{
    const auto ask = [&] {
        return zeroed ? upstream_.allocate_zeroed(bytes, alignment) : upstream_.allocate(bytes, alignment);
    };
    const Allocation made = ask();
    const bool final = made.status == AllocStatus::ok || made.status == AllocStatus::bad_request;
    return final || trim(0) == 0 ? made : ask();
}

// dotcompute-code would hand out a block of its last class here, whatever the request: seen, counted, not done.
Allocation ClassPool::bypass(std::size_t bytes, std::size_t alignment, bool zeroed) noexcept
{
    if (!is_servable(bytes, alignment)) {
        return {nullptr, AllocStatus::bad_request};  // whatever the upstream says: see ThreadTier::Memory::none
    }
    const std::uint32_t too_short = classes_.oversize_index(bytes);
    if (too_short != SizeClasses::none && has_idle(too_short)) {
        count(counts_.short_blocks);
    }
    const Allocation made = from_upstream(bytes, alignment, zeroed);
    if (made.status == AllocStatus::ok) {
        count(counts_.bypasses);
    }
    return made;
}

Allocation ClassPool::make_block(std::uint32_t index, std::size_t bytes, bool zeroed) noexcept
{
    const std::uint64_t block_bytes = classes_.bytes_of(index);
    const Allocation made = from_upstream(block_bytes, spec_.alignment, zeroed);
    if (made.status == AllocStatus::ok) {
        count(counts_.misses);
        count(counts_.requested, bytes);
        count(counts_.served, block_bytes);
        const std::uint64_t held = counts_.held.fetch_add(block_bytes, relaxed) + block_bytes;
        std::uint64_t peak = counts_.held_peak.load(relaxed);
        while (held > peak && !counts_.held_peak.compare_exchange_weak(peak, held, relaxed)) {
        }
    }
    return made;
}

void* ClassPool::reuse(std::uint32_t index, std::size_t bytes) noexcept
{
    void* block = nullptr;
    if (stripes_) {
        block = take_striped(index);
    } else {
        ThreadTier::Cache* const cache = tier_.find_or_make();
        if (ThreadTier::Magazine* const own = open_magazine(cache, index); own != nullptr) {
            remember(*cache, bytes, *own);
            if (void* const idle = own->take(bytes); idle != nullptr) {
                return idle;
            }
        }
        block = refill(index, cache);
    }
    if (block != nullptr) {
        count(counts_.requested, bytes);
        count(counts_.served, classes_.bytes_of(index));
    }
    return block;
}

void* ClassPool::take_striped(std::uint32_t index) noexcept
{
    const Stripes::Taken taken = stripes_->take(index);
    if (taken.ptr != nullptr) {
        count(taken.own ? counts_.depot_hits : counts_.common_hits);
    }
    return taken.ptr;
}

// From then on blocks of this size go straight to the magazine and from it. Not where what comes back is cleared first,
// and not in a pool aligned to less than aligns_so lets pass.
void ClassPool::remember(ThreadTier::Cache& cache, std::size_t bytes, ThreadTier::Magazine& own) const noexcept
{
    if (spec_.zeros != model::ZeroRule::on_return && spec_.alignment >= alignof(std::max_align_t)) {
        cache.remember(bytes, own);
    }
}

// The class's place in a thread's cache; nullptr: there is no cache, or it keeps nothing of this class.
ThreadTier::Magazine* ClassPool::open_magazine(ThreadTier::Cache* cache, std::uint32_t index) const noexcept
{
    const std::uint32_t capacity = cache == nullptr ? 0 : thread_capacity(index);
    if (capacity == 0) {
        return nullptr;
    }
    ThreadTier::Magazine& own = cache->magazine(index);
    own.capacity = capacity;
    return &own;
}

// Half a cache at a time, so that a thread that goes up and down by one does not come back each time.
void* ClassPool::refill(std::uint32_t index, ThreadTier::Cache* cache) noexcept
{
    std::array<void*, max_thread_blocks> batch{};
    ThreadTier::Magazine* const own = open_magazine(cache, index);
    const std::uint32_t wanted = own == nullptr ? 1 : own->capacity / 2 + 1;
    const std::uint32_t taken = depot_.take(index, {batch.data(), std::min(wanted, max_thread_blocks)});
    if (taken == 0) {
        void* const common = store_.take(index, steady_ns());
        if (common != nullptr) {
            count(counts_.common_hits);
        }
        return common;
    }
    count(counts_.depot_hits);
    if (goes_by_use(spec_.on_full)) {
        store_.note_hits(index, taken, steady_ns());
    }
    for (std::uint32_t i = 1; i < taken; ++i) {
        const bool fits = own->put(batch[i]);
        MEMSWEEP_ASSERT(fits, "half of what an empty magazine holds does not fit into it");
    }
    return batch[0];
}

void ClassPool::deallocate_shared(void* ptr, std::size_t bytes, std::size_t alignment) noexcept
{
    const std::uint32_t index = index_of(bytes, alignment);
    if (index == SizeClasses::none) {
        upstream_.deallocate(ptr, bytes, alignment);
        return;
    }
    if (spec_.zeros == model::ZeroRule::on_return) {
        std::memset(ptr, 0, classes_.bytes_of(index));
        base::keep_stores(ptr);
    }
    if (stripes_) {
        if (!stripes_->put(index, ptr, depot_capacity(index))) {
            count(counts_.evictions);
            free_block({ptr, index});
        }
    } else if (!put_own(index, ptr, bytes)) {
        put_shared(index, {&ptr, 1});
    }
}

// A full cache moves its older half on.
bool ClassPool::put_own(std::uint32_t index, void* ptr, std::size_t bytes) noexcept
{
    ThreadTier::Cache* const cache = tier_.find_or_make();
    ThreadTier::Magazine* const own = open_magazine(cache, index);
    if (own == nullptr) {
        return false;
    }
    remember(*cache, bytes, *own);
    if (own->count() >= own->capacity) {
        std::array<void*, max_thread_blocks> batch{};
        const std::uint32_t moved = own->take_oldest({batch.data(), (own->capacity + 1) / 2});
        put_shared(index, {batch.data(), moved});
    }
    return own->put(ptr);
}

void ClassPool::put_shared(std::uint32_t index, std::span<void* const> blocks) noexcept
{
    const std::uint32_t kept = depot_.put(index, blocks, depot_capacity(index));
    if (kept < blocks.size()) {
        const std::int64_t now = steady_ns();
        for (void* const block : blocks.subspan(kept)) {
            store_or_free({block, index}, now);
        }
    }
}

void ClassPool::store_or_free(IdleBlock block, std::int64_t now_ns) noexcept
{
    IdleBlock victim;
    IdleStore::Put outcome{};
    while ((outcome = store_.put(block, now_ns, victim)) == IdleStore::Put::evicted) {
        count(counts_.evictions);
        free_block(victim);
    }
    if (outcome == IdleStore::Put::refused) {
        count(counts_.evictions);
        free_block(block);
    }
}

std::uint64_t ClassPool::free_block(IdleBlock block) noexcept
{
    const std::uint64_t bytes = classes_.bytes_of(block.index);
    upstream_.deallocate(block.ptr, bytes, spec_.alignment);
    counts_.held.fetch_sub(bytes, relaxed);
    count(counts_.released, bytes);
    return bytes;
}

bool ClassPool::has_idle(std::uint32_t index) noexcept
{
    ThreadTier::Cache* const cache = tier_.find();
    return (cache != nullptr && cache->magazine(index).count() != 0) || depot_.count(index) != 0 ||
           store_.count(index) != 0 || (stripes_ && stripes_->count(index) != 0);
}
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
        released += free_block(*block);
    }
    if (released < excess) {
        released += trim_depots(excess - released);
    }
    if (released < excess) {
        released += trim_caches();
    }
    if (released != 0) {
        count(counts_.trims);
        count(counts_.trim_ns, static_cast<std::uint64_t>(steady_ns() - began));
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
            released += free_block({one[0], index});
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
            tier_.drain(slot, [&](std::uint32_t index, void* ptr) { released += free_block({ptr, index}); });
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
        released += free_block(*block);
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
