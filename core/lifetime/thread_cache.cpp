#include "core/lifetime/thread_cache.hpp"

#include <algorithm>

namespace memsweep::lifetime {
namespace {

std::atomic<std::uint64_t> caches_made{0};
std::atomic<std::int64_t> places_made{0};

}  // namespace

thread_local constinit ThreadCache::Recent ThreadCache::recent{};

ThreadCache::ThreadCache(std::uint32_t per_size, std::uint64_t limit_bytes)
    : number_{caches_made.fetch_add(1, relaxed) + 1}, per_size_{per_size}, limit_bytes_{limit_bytes},
      shards_{std::make_unique<std::array<Shard, max_threads>>()}
{
}

// A thread that alternates between caches takes a new shard each time it comes back, until there is none.
bool ThreadCache::take_shard() noexcept
{
    const std::size_t place =
        shards_taken_.load(relaxed) < max_threads ? shards_taken_.fetch_add(1, relaxed) : max_threads;
    if (place >= max_threads) {
        return false;
    }
    Shard& shard = (*shards_)[place];
    recent = {.number = number_, .bytes = none, .place = nowhere, .entry = &shard.table.front(), .shard = &shard};
    return true;
}

std::uint32_t ThreadCache::limit_of(std::uint64_t bytes) const noexcept
{
    return static_cast<std::uint32_t>(std::min(per_size_, limit_bytes_ / std::max<std::uint64_t>(bytes, 1)));
}

bool ThreadCache::give_size(Entry& entry, std::uint64_t bytes) const noexcept
{
    const std::uint32_t limit = limit_of(bytes);
    if (limit == 0 || entry.count() != 0) {
        return false;
    }
    entry.bytes.store(bytes, relaxed);
    entry.older_limit = limit - 1;
    entry.place = -1 - places_made.fetch_add(1, relaxed);
    return true;
}

Block* ThreadCache::take_any() noexcept
{
    for (Shard& shard : *shards_) {
        for (Entry& entry : shard.table) {
            if (Block* const block = entry.take(1); block != nullptr) {
                return block;
            }
        }
    }
    return nullptr;
}

std::uint64_t ThreadCache::hits() const noexcept
{
    std::uint64_t sum = 0;
    for (const Shard& shard : *shards_) {
        for (const Entry& entry : shard.table) {
            sum += entry.hits.load(relaxed);
        }
    }
    return sum;
}

std::uint64_t ThreadCache::misses() const noexcept
{
    std::uint64_t sum = 0;
    for (const Shard& shard : *shards_) {
        sum += shard.misses.load(relaxed);
    }
    return sum;
}

std::uint64_t ThreadCache::idle_bytes() const noexcept
{
    std::uint64_t sum = 0;
    for (const Shard& shard : *shards_) {
        for (const Entry& entry : shard.table) {
            const std::uint64_t count = entry.count();
            sum += count == 0 ? 0 : count * entry.bytes.load(relaxed);
        }
    }
    return sum;
}

void ThreadCache::reset_counts() noexcept
{
    for (Shard& shard : *shards_) {
        shard.misses.store(0, relaxed);
        for (Entry& entry : shard.table) {
            entry.hits.store(0, relaxed);
        }
    }
}

}  // namespace memsweep::lifetime
