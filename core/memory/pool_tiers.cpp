#include "core/memory/pool_tiers.hpp"

#include <algorithm>
#include <array>
#include <new>

#include "core/memory/size_classes.hpp"

namespace memsweep::memory {

ThreadTier::~ThreadTier()
{
    for (std::atomic<Cache*>& cache : caches_) {
        delete cache.load(std::memory_order_acquire);
    }
}

ThreadTier::Cache* ThreadTier::find_or_make() noexcept
{
    const std::uint32_t slot = thread_slot();
    if (slot >= thread_slots) {
        return nullptr;
    }
    Cache* cache = caches_[slot].load(relaxed);
    if (cache != nullptr) {
        return cache;
    }
    try {
        cache = new Cache{classes_, magazine_bytes_};
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
    caches_[slot].store(cache, std::memory_order_release);
    memories_[slot].store(cache, relaxed);
    return cache;
}

std::uint32_t Depot::take(std::uint32_t index, std::span<void*> into) noexcept
{
    Shelf& shelf = shelves_[index];
    const std::lock_guard lock{shelf.mutex};
    const auto taken = static_cast<std::uint32_t>(std::min<std::size_t>(into.size(), shelf.count));
    shelf.count -= taken;
    shelf.least = std::min(shelf.least, shelf.count);
    void** const first = &blocks_[std::size_t{index} * stride_];
    std::copy_n(first + shelf.count, taken, into.begin());
    return taken;
}

std::uint32_t Depot::put(std::uint32_t index, std::span<void* const> blocks, std::uint32_t capacity) noexcept
{
    Shelf& shelf = shelves_[index];
    const std::lock_guard lock{shelf.mutex};
    const std::uint32_t room = std::min(capacity, stride_) - shelf.count;
    const auto kept = static_cast<std::uint32_t>(std::min<std::size_t>(blocks.size(), room));
    void** const first = &blocks_[std::size_t{index} * stride_];
    std::copy_n(blocks.begin(), kept, first + shelf.count);
    shelf.count += kept;
    return kept;
}

std::uint32_t Depot::take_unused(std::uint32_t index, std::span<void*> into) noexcept
{
    Shelf& shelf = shelves_[index];
    const std::lock_guard lock{shelf.mutex};
    const auto taken = static_cast<std::uint32_t>(std::min<std::size_t>(into.size(), shelf.least));
    if (taken != 0) {
        void** const first = &blocks_[std::size_t{index} * stride_];
        std::copy_n(first, taken, into.begin());
        std::move(first + taken, first + shelf.count, first);
        shelf.count -= taken;
    }
    shelf.least = taken == into.size() ? shelf.least - taken : shelf.count;
    return taken;
}

std::uint32_t Depot::count(std::uint32_t index) const noexcept
{
    const std::lock_guard lock{shelves_[index].mutex};
    return shelves_[index].count;
}

Stripes::Stripes(std::uint32_t stripes, std::uint32_t classes, std::uint32_t blocks)
{
    for (std::uint32_t i = 0; i < stripes; ++i) {
        depots_.push_back(std::make_unique<Depot>(classes, blocks));
    }
}

Stripes::Taken Stripes::take(std::uint32_t index) noexcept
{
    std::array<void*, 1> one{};
    const std::size_t own = own_stripe();
    for (std::size_t i = 0; i < depots_.size(); ++i) {
        if (depots_[(own + i) % depots_.size()]->take(index, one) == 1) {
            return {one[0], i == 0};
        }
    }
    return {};
}

bool Stripes::put(std::uint32_t index, void* block, std::uint32_t capacity) noexcept
{
    const std::array<void*, 1> one{block};
    return depots_[own_stripe()]->put(index, one, capacity) == 1;
}

std::uint32_t Stripes::count(std::uint32_t index) const noexcept
{
    std::uint32_t sum = 0;
    for (const auto& depot : depots_) {
        sum += depot->count(index);
    }
    return sum;
}

using model::Eviction;

IdleStore::IdleStore(const SizeClasses& classes, const model::PoolSpec& spec)
    : classes_{classes}, spec_{spec}, shelves_(classes.count()), nodes_{max_blocks}
{
}

IdleStore::Link IdleStore::new_node() noexcept
{
    if (unused_ != 0) {
        const Link link = unused_;
        unused_ = at(link).older;
        return link;
    }
    return used_ < max_blocks ? ++used_ : 0;
}

void IdleStore::insert(IdleBlock block, std::int64_t now_ns) noexcept
{
    const Link link = new_node();
    Shelf& shelf = shelves_[block.index];
    at(link) = {block.ptr, now_ns, block.index, 0, shelf.newest, 0, newest_};
    (shelf.newest != 0 ? at(shelf.newest).newer : shelf.oldest) = link;
    shelf.newest = link;
    (newest_ != 0 ? at(newest_).newer_of_all : oldest_) = link;
    newest_ = link;
    shelf.used_ns = now_ns;
    ++shelf.count;
    bytes_ += classes_.bytes_of(block.index);
}

IdleBlock IdleStore::remove(Link link) noexcept
{
    const Node node = at(link);
    Shelf& shelf = shelves_[node.index];
    (node.newer != 0 ? at(node.newer).older : shelf.newest) = node.older;
    (node.older != 0 ? at(node.older).newer : shelf.oldest) = node.newer;
    (node.newer_of_all != 0 ? at(node.newer_of_all).older_of_all : newest_) = node.older_of_all;
    (node.older_of_all != 0 ? at(node.older_of_all).newer_of_all : oldest_) = node.newer_of_all;
    --shelf.count;
    bytes_ -= classes_.bytes_of(node.index);
    at(link).older = unused_;
    unused_ = link;
    return {node.ptr, node.index};
}

void* IdleStore::take(std::uint32_t index, std::int64_t now_ns) noexcept
{
    const std::lock_guard lock{mutex_};
    Shelf& shelf = shelves_[index];
    shelf.used_ns = now_ns;
    if (shelf.newest == 0) {
        return nullptr;
    }
    ++shelf.hits;
    return remove(shelf.newest).ptr;
}

bool IdleStore::fits(std::uint32_t index) const noexcept
{
    const Shelf& shelf = shelves_[index];
    const std::uint64_t bytes = classes_.bytes_of(index);
    const bool in_class = (spec_.per_class == 0 || shelf.count < spec_.per_class) &&
                          (spec_.class_bytes == 0 || (shelf.count + 1) * bytes <= spec_.class_bytes);
    return in_class && bytes_ + bytes <= spec_.limit_bytes && (unused_ != 0 || used_ < max_blocks);
}

// A class that is full on its own gives up its own oldest block, whatever the rule.
IdleStore::Put IdleStore::put(IdleBlock block, std::int64_t now_ns, IdleBlock& victim) noexcept
{
    const std::lock_guard lock{mutex_};
    if (fits(block.index)) {
        insert(block, now_ns);
        return Put::kept;
    }
    const Shelf& shelf = shelves_[block.index];
    const std::uint64_t bytes = classes_.bytes_of(block.index);
    const bool full_class = (spec_.per_class != 0 && shelf.count >= spec_.per_class) ||
                            (spec_.class_bytes != 0 && (shelf.count + 1) * bytes > spec_.class_bytes);
    const Link going = full_class ? shelf.oldest : victim_of(spec_.on_full);
    if (spec_.on_full == Eviction::returned || going == 0 || bytes > spec_.limit_bytes) {
        return Put::refused;
    }
    victim = remove(going);
    return Put::evicted;
}

template <typename Better>
IdleStore::Link IdleStore::oldest_of(const Better& better) const noexcept
{
    const Shelf* best = nullptr;
    for (const Shelf& shelf : shelves_) {
        if (shelf.count != 0 && (best == nullptr || better(shelf, *best))) {
            best = &shelf;
        }
    }
    return best == nullptr ? 0 : best->oldest;
}

IdleStore::Link IdleStore::victim_of(Eviction rule) const noexcept
{
    switch (rule) {
    case Eviction::returned:
    case Eviction::fifo:
        return oldest_;
    case Eviction::lru:
        return oldest_of([](const Shelf& a, const Shelf& b) { return a.used_ns < b.used_ns; });
    case Eviction::lfu:
        return oldest_of([](const Shelf& a, const Shelf& b) { return a.hits < b.hits; });
    case Eviction::largest:
        return oldest_of([this](const Shelf& a, const Shelf& b) {
            return classes_.bytes_of(static_cast<std::uint32_t>(&a - shelves_.data())) >
                   classes_.bytes_of(static_cast<std::uint32_t>(&b - shelves_.data()));
        });
    }
    return oldest_;
}

std::optional<IdleBlock> IdleStore::take_beyond(std::uint64_t keep_bytes) noexcept
{
    const std::lock_guard lock{mutex_};
    if (bytes_ <= keep_bytes || oldest_ == 0) {
        return std::nullopt;
    }
    return remove(victim_of(spec_.on_full));
}

std::optional<IdleBlock> IdleStore::take_older(std::int64_t since_ns) noexcept
{
    const std::lock_guard lock{mutex_};
    if (oldest_ == 0 || at(oldest_).since_ns >= since_ns) {
        return std::nullopt;
    }
    return remove(oldest_);
}

void IdleStore::note_hits(std::uint32_t index, std::uint64_t hits, std::int64_t now_ns) noexcept
{
    const std::lock_guard lock{mutex_};
    shelves_[index].hits += hits;
    shelves_[index].used_ns = now_ns;
}

std::uint32_t IdleStore::count(std::uint32_t index) const noexcept
{
    const std::lock_guard lock{mutex_};
    return shelves_[index].count;
}

}  // namespace memsweep::memory
