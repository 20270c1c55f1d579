#include "core/lifetime/caching_disciplines.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/memory/clock.hpp"

namespace memsweep::lifetime {
namespace {

using model::ReleaseMode;

constexpr std::uint64_t max_class_bytes = std::uint64_t{1} << 30U;

}  // namespace

CachingDiscipline::CachingDiscipline(const model::ReleaseSpec& spec, Reclaimer& reclaimer) noexcept
    : Discipline{reclaimer}, spec_{spec}, collector_{spec, false}
{
}

CachingDiscipline::~CachingDiscipline()
{
    for (Shelf& shelf : shelves_) {
        while (Block* const block = shelf.first) {
            shelf.first = block->next;
            block->freed.store(false, relaxed);
            reclaimer().free(*block);
        }
    }
}

bool CachingDiscipline::bypasses(std::uint64_t bytes) const noexcept
{
    return spec_.mode == ReleaseMode::pool && (bytes < spec_.cache.from_bytes || bytes > max_kept_bytes());
}

std::uint64_t CachingDiscipline::max_kept_bytes() const noexcept
{
    return spec_.cache.below_bytes == 0 ? max_class_bytes : std::min(max_class_bytes, spec_.cache.below_bytes - 1);
}

std::uint64_t CachingDiscipline::stored_bytes(std::uint64_t bytes) const noexcept
{
    const bool classed = spec_.mode == ReleaseMode::pool && !bypasses(bytes);
    return classed ? std::min(std::bit_ceil(bytes), max_kept_bytes()) : bytes;
}

CachingDiscipline::Shelf& CachingDiscipline::shelf_of(std::uint64_t stored) noexcept
{
    if (spec_.mode == ReleaseMode::forward) {
        return shelves_.front();
    }
    constexpr std::uint64_t golden = 0x9E37'79B9'7F4A'7C15;
    return shelves_[(stored * golden) >> 54U];
}

Block* CachingDiscipline::reuse(std::uint64_t bytes, std::size_t alignment, bool zeroed) noexcept
{
    const std::uint64_t stored = stored_bytes(bytes);
    Block* found = nullptr;
    {
        const std::lock_guard lock{mutex_};
        if (bypasses(bytes)) {
            ++misses_;
            return nullptr;
        }
        Shelf& shelf = shelf_of(stored);
        Block** link = &shelf.first;
        while (*link != nullptr && ((*link)->bytes != stored || (*link)->alignment() < alignment)) {
            link = &(*link)->next;
        }
        found = *link;
        if (found == nullptr) {
            ++misses_;
            return nullptr;
        }
        *link = found->next;
        --shelf.count;
        ++hits_;
        idle_bytes_ -= found->bytes;
    }
    if (zeroed) {
        std::memset(found->data, 0, bytes);
    }
    return found;
}

memory::AllocStatus CachingDiscipline::acquire(Block& block, std::uint64_t bytes, std::size_t alignment,
                                               bool zeroed) noexcept
{
    register_pressure(stored_bytes(bytes));
    return Discipline::acquire(block, stored_bytes(bytes), alignment, zeroed);
}

void CachingDiscipline::register_pressure(std::uint64_t bytes) noexcept
{
    if (collector_.before_allocate(bytes) != Due::no) {
        const std::int64_t began = collector_.begin_pause();
        collector_.finish({began, steady_ns(), 0, false}, true);
    }
}

bool CachingDiscipline::keep(Block& block) noexcept
{
    const std::lock_guard lock{mutex_};
    Shelf& shelf = shelf_of(block.bytes);
    if (spec_.mode == ReleaseMode::forward && shelf.first != nullptr) {
        return false;
    }
    const bool bounded = spec_.mode != ReleaseMode::preallocated;
    if (bounded && (bypasses(block.bytes) || shelf.count >= spec_.cache.per_size ||
                    idle_bytes_ + block.bytes > spec_.cache.limit_bytes)) {
        return false;
    }
    block.freed.store(true, relaxed);  // idle: nobody's
    block.next = shelf.first;
    shelf.first = &block;
    ++shelf.count;
    idle_bytes_ += block.bytes;
    return true;
}

// A full shelf frees what comes back. The forwarding slot takes the newest: it is the warm one.
void CachingDiscipline::unreachable(Block& block) noexcept
{
    const std::uint64_t bytes = block.bytes;
    if (keep(block)) {
        if (spec_.pressure.counts_idle) {
            register_pressure(bytes);
        }
        return;
    }
    if (spec_.mode != ReleaseMode::forward) {
        collector_.freed(bytes);
        reclaimer().free(block);
        return;
    }
    Block* older = nullptr;
    {
        const std::lock_guard lock{mutex_};
        Shelf& slot = shelves_.front();
        older = slot.first;
        slot.first = nullptr;
        slot.count = 0;
        idle_bytes_ = 0;
    }
    if (older != nullptr) {
        older->freed.store(false, relaxed);
        reclaimer().free(*older);
    }
    if (!keep(block)) {
        reclaimer().free(block);
    }
}

DisciplineStats CachingDiscipline::stats() const noexcept
{
    DisciplineStats stats;
    collector_.add_to(stats);
    const std::lock_guard lock{mutex_};
    stats.cache_hits = hits_;
    stats.cache_misses = misses_;
    stats.idle_bytes = idle_bytes_;
    return stats;
}

void CachingDiscipline::reset_counts() noexcept
{
    collector_.reset_counts();
    const std::lock_guard lock{mutex_};
    hits_ = 0;
    misses_ = 0;
}

TlsCacheDiscipline::~TlsCacheDiscipline()
{
    while (Block* const block = cache_.take_any()) {
        reclaimer().free(*block);
    }
}

void TlsCacheDiscipline::unreachable(Block& block) noexcept
{
    if (!cache_.put(block)) {
        reclaimer().free(block);
    }
}

DisciplineStats TlsCacheDiscipline::stats() const noexcept
{
    DisciplineStats stats;
    stats.cache_hits = cache_.hits();
    stats.cache_misses = cache_.misses();
    stats.idle_bytes = cache_.idle_bytes();
    return stats;
}

}  // namespace memsweep::lifetime
