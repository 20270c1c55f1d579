// A pool that cuts blocks from large chunks and joins freed ranges with free neighbours. It finds a free range by best
// fit or by TLSF (two-level segregated fit).
//
// Units    bytes. Sizes are rounded up to the pool's alignment, at least 16.
// Cost     one lock. TLSF takes constant time. Best fit compares all free ranges of nearly the requested size. Zeroed
//          memory from the pool is always written (memset).
// Memory   chunks have chunk_bytes, or 9/8 of the request if that is more. When a chunk becomes entirely free while
//          more than limit_bytes are idle, it is returned to the upstream.
// Errors   freeing a block twice, or freeing a block of another pool, is a bug and aborts the process.
// Threads  any; one lock serializes them.
#pragma once

#include <algorithm>
#include <cstring>
#include <mutex>

#include "core/base/assert.hpp"
#include "core/base/barrier.hpp"
#include "core/memory/alignment.hpp"
#include "core/memory/clock.hpp"
#include "core/memory/pool.hpp"
#include "core/memory/range_records.hpp"

namespace memsweep::memory {

class RangePool final : public Pool {
  public:
    RangePool(const model::PoolSpec& spec, MemoryResource& upstream)
        : spec_{spec}, upstream_{upstream}, in_use_{ranges_}
    {
    }

    ~RangePool() override { static_cast<void>(release_chunks(0)); }

    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override
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

    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override
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
            base::keep_stores(made.ptr);
        }
        return made;
    }

    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override
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

    std::uint64_t trim(std::uint64_t keep_bytes) noexcept override
    {
        const std::lock_guard lock{mutex_};
        return release_chunks(keep_bytes);
    }

    [[nodiscard]] PoolStats stats() const noexcept override
    {
        const std::lock_guard lock{mutex_};
        PoolStats stats = stats_;
        stats.idle_bytes = ranges_.free_bytes();
        stats.idle_blocks = ranges_.free_ranges();
        stats.largest_idle_bytes = ranges_.largest_free_bytes();
        return stats;
    }

    void reset_counts() noexcept override
    {
        const std::lock_guard lock{mutex_};
        for (std::uint64_t PoolStats::*sum : PoolStats::sums) {
            stats_.*sum = 0;
        }
        stats_.held_bytes_peak = stats_.held_bytes;
    }

  private:
    using Number = RangeRecords::Number;
    static constexpr std::size_t chunk_alignment = 4096;

    [[nodiscard]] bool serves(std::size_t bytes, std::size_t alignment) const noexcept
    {
        return is_power_of_two(alignment) && alignment <= spec_.alignment && bytes >= spec_.smallest &&
               bytes <= spec_.largest;
    }

    [[nodiscard]] std::uint64_t rounded(std::size_t bytes) const noexcept
    {
        return round_up(bytes, std::max<std::uint64_t>(spec_.alignment, 16));
    }

    [[nodiscard]] Number find(std::uint64_t bytes) const noexcept
    {
        return spec_.kind == model::PoolKind::best_fit ? ranges_.find_best(bytes) : ranges_.find_near(bytes);
    }

    // Takes a free range of at least `bytes` and shortens it to `bytes`; the remainder stays free (unless there is no
    // record for it). Returns 0 if no range is large enough.
    [[nodiscard]] Number take(std::uint64_t bytes) noexcept
    {
        const Number number = find(bytes);
        if (number == 0) {
            return 0;
        }
        ranges_.remove_free(number);
        RangeRecords::Range& range = ranges_.record(number);
        if (range.bytes > bytes) {
            const Number rest =
                ranges_.add({range.start + bytes, range.bytes - bytes, number, range.after, 0, 0, false});
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

    // Adds a chunk for a request of `bytes`. The chunk is at least an eighth larger than the request, so that TLSF
    // finds it: TLSF searches only bins (lists of free ranges) in which every range is large enough.
    [[nodiscard]] AllocStatus grow(std::uint64_t bytes) noexcept
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

    // Appends the right range to the left range, and returns the left one. Neither range may be in a bin.
    [[nodiscard]] Number joined(Number left, Number right) noexcept
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

    void give_back(Number chunk) noexcept
    {
        ranges_.remove_free(chunk);
        const RangeRecords::Range range = ranges_.record(chunk);
        ranges_.forget(chunk);
        upstream_.deallocate(range.start, range.bytes, chunk_alignment);
        stats_.held_bytes -= range.bytes;
        stats_.released_bytes += range.bytes;
    }

    std::uint64_t release_chunks(std::uint64_t keep_bytes) noexcept
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

    const model::PoolSpec spec_;
    MemoryResource& upstream_;
    mutable std::mutex mutex_;  // guards everything below
    RangeRecords ranges_;
    AddressMap in_use_;
    PoolStats stats_;  // without the idle bytes and blocks, which stats() computes
};

}  // namespace memsweep::memory
