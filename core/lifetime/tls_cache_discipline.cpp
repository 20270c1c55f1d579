#include "core/lifetime/tls_cache_discipline.hpp"

#include <cstring>

namespace memsweep::lifetime {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;

std::atomic<std::uint64_t> disciplines_made{0};

// The shard this thread last used, and whose it was.
struct Recent {
    std::uint64_t identity{};
    void* shard{};
};
thread_local Recent recent;

void add(std::atomic<std::uint64_t>& own, std::uint64_t value)
{
    own.store(own.load(relaxed) + value, relaxed);  // one writer
}

}  // namespace

TlsCacheDiscipline::TlsCacheDiscipline(const model::ReleaseSpec& spec, Reclaimer& reclaimer) noexcept
    : Discipline{reclaimer}, spec_{spec.cache}, identity_{disciplines_made.fetch_add(1, relaxed) + 1}
{
}

TlsCacheDiscipline::~TlsCacheDiscipline()
{
    for (Shard& shard : shards_) {
        for (Entry& entry : shard.table) {
            while (Block* const block = entry.first) {
                entry.first = block->next;
                block->freed.store(false, relaxed);
                reclaimer().free(*block);
            }
        }
    }
}

TlsCacheDiscipline::Shard* TlsCacheDiscipline::own_shard() noexcept
{
    return recent.identity == identity_ ? static_cast<Shard*>(recent.shard) : take_shard();
}

// A thread that alternates between disciplines takes a new shard each time it comes back, until there is none.
TlsCacheDiscipline::Shard* TlsCacheDiscipline::take_shard() noexcept
{
    recent = {identity_, nullptr};
    for (Shard& shard : shards_) {
        if (!shard.taken.load(relaxed) && !shard.taken.exchange(true, std::memory_order_acq_rel)) {
            recent.shard = &shard;
            break;
        }
    }
    return static_cast<Shard*>(recent.shard);
}

TlsCacheDiscipline::Entry& TlsCacheDiscipline::entry_of(Shard& shard, std::uint64_t bytes) noexcept
{
    constexpr std::uint64_t golden = 0x9E37'79B9'7F4A'7C15;
    return shard.table[(bytes * golden) >> 56U];
}

Block* TlsCacheDiscipline::reuse(std::uint64_t bytes, std::size_t alignment, bool zeroed) noexcept
{
    Shard* const shard = own_shard();
    if (shard == nullptr) {
        return nullptr;
    }
    Entry& entry = entry_of(*shard, bytes);
    Block* const block = entry.first;
    if (block == nullptr || entry.bytes != bytes || block->alignment() < alignment) {
        add(shard->misses, 1);
        return nullptr;
    }
    entry.first = block->next;
    --entry.count;
    add(shard->hits, 1);
    add(shard->idle_bytes, std::uint64_t{0} - bytes);
    if (zeroed) {
        std::memset(block->data, 0, bytes);
    }
    return block;
}

void TlsCacheDiscipline::unreachable(Block& block) noexcept
{
    Shard* const shard = own_shard();
    if (shard != nullptr) {
        Entry& entry = entry_of(*shard, block.bytes);
        if (entry.first == nullptr) {
            entry.bytes = block.bytes;
        }
        if (entry.bytes == block.bytes && entry.count < spec_.per_size &&
            shard->idle_bytes.load(relaxed) + block.bytes <= spec_.limit_bytes) {
            block.freed.store(true, relaxed);  // idle: nobody's
            block.next = entry.first;
            entry.first = &block;
            ++entry.count;
            add(shard->idle_bytes, block.bytes);
            return;
        }
    }
    reclaimer().free(block);
}

DisciplineStats TlsCacheDiscipline::stats() const noexcept
{
    DisciplineStats stats;
    for (const Shard& shard : shards_) {
        stats.cache_hits += shard.hits.load(relaxed);
        stats.cache_misses += shard.misses.load(relaxed);
        stats.idle_bytes += shard.idle_bytes.load(relaxed);
    }
    return stats;
}

void TlsCacheDiscipline::reset_counts() noexcept
{
    for (Shard& shard : shards_) {
        shard.hits.store(0, relaxed);
        shard.misses.store(0, relaxed);
    }
}

}  // namespace memsweep::lifetime
