#include "core/lifetime/thread_cache.hpp"

#include <algorithm>

namespace memsweep::lifetime {
namespace {

std::atomic<std::uint64_t> caches_made{0};

}  // namespace

thread_local constinit ThreadCache::Recent ThreadCache::recent{};

ThreadCache::ThreadCache(std::uint32_t per_size, std::uint64_t limit_bytes)
    : identity_{caches_made.fetch_add(1, relaxed) + 1}, per_size_{per_size}, limit_bytes_{limit_bytes},
      shards_{std::make_unique<std::array<Shard, max_threads>>()}
{
}

// A thread that alternates between caches takes a new shard each time it comes back, until there is none.
ThreadCache::Shard* ThreadCache::take_shard() noexcept
{
    const std::size_t place =
        shards_taken_.load(relaxed) < max_threads ? shards_taken_.fetch_add(1, relaxed) : max_threads;
    if (place >= max_threads) {
        return nullptr;
    }
    recent = {identity_, &(*shards_)[place]};
    return recent.shard;
}

std::uint32_t ThreadCache::limit_of(std::uint64_t bytes) const noexcept
{
    return static_cast<std::uint32_t>(std::min(per_size_, limit_bytes_ / std::max<std::uint64_t>(bytes, 1)));
}

bool ThreadCache::find_entry(Shard& shard, std::uint64_t bytes) const noexcept
{
    constexpr std::uint64_t golden = 0x9E37'79B9'7F4A'7C15;
    Entry& entry = shard.table[(bytes * golden) >> 56U];
    if (entry.bytes.load(relaxed) != bytes) {
        const std::uint32_t limit = limit_of(bytes);
        if (limit == 0 || entry.count() != 0) {
            return false;
        }
        entry.bytes.store(bytes, relaxed);
        entry.older_limit = limit - 1;
    }
    shard.last_bytes = bytes;
    shard.last = &entry;
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

std::uint64_t ThreadCache::sum(std::atomic<std::uint64_t> Shard::*counter) const noexcept
{
    std::uint64_t total = 0;
    for (const Shard& shard : *shards_) {
        total += (shard.*counter).load(relaxed);
    }
    return total;
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
        shard.hits.store(0, relaxed);
        shard.misses.store(0, relaxed);
    }
}

}  // namespace memsweep::lifetime
