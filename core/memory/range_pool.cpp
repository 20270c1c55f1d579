#include "core/memory/range_pool.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/assert.hpp"
#include "core/memory/alignment.hpp"
#include "core/memory/barrier.hpp"
#include "core/memory/clock.hpp"

namespace memsweep::memory {

RangeRecords::Number RangeRecords::add(const Range& range) noexcept
{
    Number number = unused_;
    if (number != 0) {
        unused_ = record(number).following;
    } else if (used_ < max_ranges) {
        number = ++used_;
    } else {
        return 0;
    }
    record(number) = range;
    return number;
}

void RangeRecords::forget(Number number) noexcept
{
    record(number).following = unused_;
    unused_ = number;
}

void RangeRecords::insert_free(Number number) noexcept
{
    Range& range = record(number);
    const std::uint32_t bin = bin_of(range.bytes);
    range.free = true;
    range.previous = 0;
    range.following = bins_[bin];
    if (bins_[bin] != 0) {
        record(bins_[bin]).previous = number;
    }
    bins_[bin] = number;
    coarse_map_ |= std::uint64_t{1} << (bin / fine);
    fine_map_[bin / fine] = static_cast<std::uint16_t>(fine_map_[bin / fine] | (1U << (bin % fine)));
    free_bytes_ += range.bytes;
    ++free_ranges_;
}

void RangeRecords::remove_free(Number number) noexcept
{
    Range& range = record(number);
    const std::uint32_t bin = bin_of(range.bytes);
    (range.previous != 0 ? record(range.previous).following : bins_[bin]) = range.following;
    if (range.following != 0) {
        record(range.following).previous = range.previous;
    }
    if (bins_[bin] == 0) {
        std::uint16_t& map = fine_map_[bin / fine];
        map = static_cast<std::uint16_t>(map & ~(1U << (bin % fine)));
        if (map == 0) {
            coarse_map_ &= ~(std::uint64_t{1} << (bin / fine));
        }
    }
    range.free = false;
    free_bytes_ -= range.bytes;
    --free_ranges_;
}

std::uint32_t RangeRecords::next_bin(std::uint32_t bin) const noexcept
{
    const std::uint32_t coarse = bin / fine;
    if (const std::uint32_t here = std::uint32_t{fine_map_[coarse]} >> (bin % fine); here != 0) {
        return bin + static_cast<std::uint32_t>(std::countr_zero(here));
    }
    const std::uint64_t above = coarse + 1 < 64 ? coarse_map_ >> (coarse + 1) << (coarse + 1) : 0;
    if (above == 0) {
        return bin_count;
    }
    const auto found = static_cast<std::uint32_t>(std::countr_zero(above));
    return found * fine + static_cast<std::uint32_t>(std::countr_zero(std::uint32_t{fine_map_[found]}));
}

// Of equal sizes the lowest address: what lies high can then go back.
RangeRecords::Number RangeRecords::smallest_in(std::uint32_t bin, std::uint64_t bytes) const noexcept
{
    Number best = 0;
    for (Number at = bins_[bin]; at != 0; at = record(at).following) {
        const Range& range = record(at);
        const bool better = best == 0 || range.bytes < record(best).bytes ||
                            (range.bytes == record(best).bytes && range.start < record(best).start);
        if (range.bytes >= bytes && better) {
            best = at;
        }
    }
    return best;
}

RangeRecords::Number RangeRecords::find_best(std::uint64_t bytes) const noexcept
{
    const std::uint32_t own = bin_of(bytes);
    if (const Number found = smallest_in(own, bytes); found != 0) {
        return found;
    }
    const std::uint32_t bin = own + 1 < bin_count ? next_bin(own + 1) : bin_count;
    return bin == bin_count ? 0 : smallest_in(bin, bytes);
}

// Everything in a later bin is large enough, so the first will do.
RangeRecords::Number RangeRecords::find_near(std::uint64_t bytes) const noexcept
{
    const auto width = static_cast<std::uint32_t>(std::bit_width(bytes | fine));
    const std::uint64_t rounded = bytes + (std::uint64_t{1} << (width - fine_bits - 1)) - 1;
    const std::uint32_t bin = next_bin(bin_of(rounded));
    return bin == bin_count ? 0 : bins_[bin];
}

std::uint64_t RangeRecords::largest_free_bytes() const noexcept
{
    if (coarse_map_ == 0) {
        return 0;
    }
    const auto coarse = static_cast<std::uint32_t>(std::bit_width(coarse_map_) - 1);
    const auto bin = coarse * fine + static_cast<std::uint32_t>(std::bit_width(fine_map_[coarse]) - 1);
    std::uint64_t largest = 0;
    for (Number at = bins_[bin]; at != 0; at = record(at).following) {
        largest = std::max(largest, record(at).bytes);
    }
    return largest;
}

namespace {

constexpr std::size_t chunk_alignment = 4096;

}  // namespace

RangePool::RangePool(const model::PoolSpec& spec, MemoryResource& upstream)
    : spec_{spec}, upstream_{upstream}, in_use_{ranges_}
{
}

RangePool::~RangePool()
{
    static_cast<void>(release_chunks(0));
}

bool RangePool::serves(std::size_t bytes, std::size_t alignment) const noexcept
{
    return std::has_single_bit(alignment) && alignment <= spec_.alignment && bytes >= spec_.smallest &&
           bytes <= spec_.largest;
}

std::uint64_t RangePool::rounded(std::size_t bytes) const noexcept
{
    return round_up(bytes, std::max<std::uint64_t>(spec_.alignment, 16));
}

RangePool::Number RangePool::find(std::uint64_t bytes) const noexcept
{
    return spec_.kind == model::PoolKind::best_fit ? ranges_.find_best(bytes) : ranges_.find_near(bytes);
}

// Cuts the range found; what is left of it stays free.
RangePool::Number RangePool::take(std::uint64_t bytes) noexcept
{
    const Number number = find(bytes);
    if (number == 0) {
        return 0;
    }
    ranges_.remove_free(number);
    RangeRecords::Range& range = ranges_.record(number);
    if (range.bytes > bytes) {
        const Number rest = ranges_.add({range.start + bytes, range.bytes - bytes, number, range.after, 0, 0, false});
        if (rest != 0) {
            if (range.after != 0) {
                ranges_.record(range.after).before = rest;
            }
            range.after = rest;
            range.bytes = bytes;
            ranges_.insert_free(rest);
        }
    }
    in_use_.insert(number);
    return number;
}

// TLSF finds only what every range of a bin can serve: a chunk is larger by as much as that may take.
AllocStatus RangePool::grow(std::uint64_t bytes) noexcept
{
    const std::uint64_t wanted = std::max(spec_.chunk_bytes, round_up(bytes + bytes / 8, chunk_alignment));
    const Allocation chunk = upstream_.allocate(wanted, chunk_alignment);
    if (chunk.status != AllocStatus::ok) {
        return chunk.status;
    }
    const Number number = ranges_.add({static_cast<std::byte*>(chunk.ptr), wanted, 0, 0, 0, 0, false});
    if (number == 0) {
        upstream_.deallocate(chunk.ptr, wanted, chunk_alignment);
        return AllocStatus::out_of_memory;
    }
    ranges_.insert_free(number);
    stats_.held_bytes += wanted;
    stats_.held_bytes_peak = std::max(stats_.held_bytes_peak, stats_.held_bytes);
    return AllocStatus::ok;
}

Allocation RangePool::allocate(std::size_t bytes, std::size_t alignment) noexcept
{
    if (!serves(bytes, alignment)) {
        const Allocation made = upstream_.allocate(bytes, alignment);
        const std::lock_guard lock{mutex_};
        stats_.bypasses += made.status == AllocStatus::ok ? 1 : 0;
        return made;
    }
    const std::uint64_t size = rounded(bytes);
    const std::lock_guard lock{mutex_};
    Number number = take(size);
    const bool hit = number != 0;
    if (!hit) {
        AllocStatus status = grow(size);
        if (status != AllocStatus::ok && release_chunks(0) != 0) {
            status = grow(size);
        }
        if (status != AllocStatus::ok) {
            return {nullptr, status};
        }
        number = take(size);
    }
    if (number == 0) {
        return {nullptr, AllocStatus::out_of_memory};
    }
    ++(hit ? stats_.common_hits : stats_.misses);
    stats_.requested_bytes += bytes;
    stats_.served_bytes += ranges_.record(number).bytes;
    return {ranges_.record(number).start, AllocStatus::ok};
}

Allocation RangePool::allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept
{
    if (!serves(bytes, alignment)) {
        const Allocation made = upstream_.allocate_zeroed(bytes, alignment);
        const std::lock_guard lock{mutex_};
        stats_.bypasses += made.status == AllocStatus::ok ? 1 : 0;
        return made;
    }
    const Allocation made = allocate(bytes, alignment);
    if (made.status == AllocStatus::ok) {
        std::memset(made.ptr, 0, bytes);
        keep_stores(made.ptr);
    }
    return made;
}

// The left one grows by the right one, which must be free and in no bin.
RangePool::Number RangePool::joined(Number left, Number right) noexcept
{
    RangeRecords::Range& first = ranges_.record(left);
    const RangeRecords::Range& second = ranges_.record(right);
    first.bytes += second.bytes;
    first.after = second.after;
    if (first.after != 0) {
        ranges_.record(first.after).before = left;
    }
    ranges_.forget(right);
    return left;
}

void RangePool::deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept
{
    if (!serves(bytes, alignment)) {
        upstream_.deallocate(ptr, bytes, alignment);
        return;
    }
    const std::lock_guard lock{mutex_};
    Number number = in_use_.take(ptr);
    MEMSWEEP_ASSERT(number != 0, "a block came back to a pool that it is not in use from");
    if (const Number after = ranges_.record(number).after; after != 0 && ranges_.record(after).free) {
        ranges_.remove_free(after);
        number = joined(number, after);
    }
    if (const Number before = ranges_.record(number).before; before != 0 && ranges_.record(before).free) {
        ranges_.remove_free(before);
        number = joined(before, number);
    }
    ranges_.insert_free(number);
    const RangeRecords::Range& range = ranges_.record(number);
    if (range.before == 0 && range.after == 0 && ranges_.free_bytes() > spec_.limit_bytes) {
        ++stats_.evictions;
        give_back(number);
    }
}

void RangePool::give_back(Number chunk) noexcept
{
    ranges_.remove_free(chunk);
    const RangeRecords::Range range = ranges_.record(chunk);
    ranges_.forget(chunk);
    upstream_.deallocate(range.start, range.bytes, chunk_alignment);
    stats_.held_bytes -= range.bytes;
    stats_.released_bytes += range.bytes;
}

std::uint64_t RangePool::release_chunks(std::uint64_t keep_bytes) noexcept
{
    const std::int64_t began = steady_ns();
    std::uint64_t released = 0;
    ranges_.each_free([&](Number number) {
        const RangeRecords::Range& range = ranges_.record(number);
        if (range.before == 0 && range.after == 0 && ranges_.free_bytes() > keep_bytes) {
            released += range.bytes;
            give_back(number);
        }
    });
    if (released != 0) {
        ++stats_.trims;
        stats_.trim_ns += static_cast<std::uint64_t>(steady_ns() - began);
    }
    return released;
}

std::uint64_t RangePool::trim(std::uint64_t keep_bytes) noexcept
{
    const std::lock_guard lock{mutex_};
    return release_chunks(keep_bytes);
}

PoolStats RangePool::stats() const noexcept
{
    const std::lock_guard lock{mutex_};
    PoolStats stats = stats_;
    stats.idle_bytes = ranges_.free_bytes();
    stats.idle_blocks = ranges_.free_ranges();
    stats.largest_idle_bytes = ranges_.largest_free_bytes();
    return stats;
}

void RangePool::reset_counts() noexcept
{
    const std::lock_guard lock{mutex_};
    for (std::uint64_t PoolStats::*sum : PoolStats::sums) {
        stats_.*sum = 0;
    }
    stats_.held_bytes_peak = stats_.held_bytes;
}

}  // namespace memsweep::memory
