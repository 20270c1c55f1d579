#include "core/memory/range_records.hpp"

#include <algorithm>

namespace memsweep::memory {

RangeRecords::Number RangeRecords::add(const Range& range) noexcept
{
    Number number = unused_;
    if (number != 0) {
        unused_ = record(number).following;
    } else if (used_ < most_ranges) {
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

}  // namespace memsweep::memory
