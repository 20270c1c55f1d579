// Records of the ranges into which a pool's chunks are divided. Free ranges are also in bins, which are lists of free
// ranges of similar size. Best fit and TLSF differ only in how they search the bins.
//
// Units    bytes.
// Sources  Masmano, Ripoll, Crespo, Real, "TLSF: a new dynamic memory allocator for real-time systems" (2004).
// Cost     inserting, removing and find_near take constant time. find_best visits every range of one or two bins.
// Memory   40 bytes per range, in a mapping of its own. The ranges themselves are never touched.
// Threads  one at a time, under the owner's lock.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/memory/lazy_array.hpp"

namespace memsweep::memory {

class RangeRecords {
  public:
    static constexpr std::uint32_t max_ranges = 1U << 20U;

    // A record's index plus 1; 0: no record.
    using Number = std::uint32_t;
    struct Range {
        std::byte* start{};
        std::uint64_t bytes{};
        Number before{}, after{};        // neighbours in the chunk
        Number previous{}, following{};  // neighbours in its bin; `following` also links unused records
        bool free{};
    };

    RangeRecords() : ranges_{max_ranges} {}

    [[nodiscard]] const Range& record(Number number) const noexcept { return ranges_[number - 1]; }
    [[nodiscard]] Range& record(Number number) noexcept { return ranges_[number - 1]; }

    // Adds a record and returns its number; 0 if there are already max_ranges records.
    [[nodiscard]] Number add(const Range& range) noexcept
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

    void forget(Number number) noexcept
    {
        record(number).following = unused_;
        unused_ = number;
    }

    void insert_free(Number number) noexcept
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

    void remove_free(Number number) noexcept
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

    // Returns the smallest free range of at least `bytes`; 0 if there is none.
    [[nodiscard]] Number find_best(std::uint64_t bytes) const noexcept
    {
        const std::uint32_t own = bin_of(bytes);
        if (const Number found = smallest_in(own, bytes); found != 0) {
            return found;
        }
        const std::uint32_t bin = own + 1 < bin_count ? next_bin(own + 1) : bin_count;
        return bin == bin_count ? 0 : smallest_in(bin, bytes);
    }

    // TLSF: returns the first range of the first non-empty bin in which every range has at least `bytes`. Returns 0 if
    // there is no such bin, even if a bin of smaller ranges contains a range that is large enough.
    [[nodiscard]] Number find_near(std::uint64_t bytes) const noexcept
    {
        const auto width = static_cast<std::uint32_t>(std::bit_width(bytes | fine));
        const std::uint64_t rounded = bytes + (std::uint64_t{1} << (width - fine_bits - 1)) - 1;
        const std::uint32_t bin = next_bin(bin_of(rounded));
        return bin == bin_count ? 0 : bins_[bin];
    }

    [[nodiscard]] std::uint64_t free_bytes() const noexcept { return free_bytes_; }
    [[nodiscard]] std::uint64_t free_ranges() const noexcept { return free_ranges_; }
    [[nodiscard]] std::uint64_t largest_free_bytes() const noexcept
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

    template <typename Visit>
    void each_free(const Visit& visit) const
    {
        for (const Number head : bins_) {
            for (Number at = head; at != 0;) {
                const Number next = record(at).following;  // read first, because the visitor may remove the range
                visit(at);
                at = next;
            }
        }
    }

  private:
    // Sixteen bins per power of two.
    static constexpr std::uint32_t fine_bits = 4;
    static constexpr std::uint32_t fine = 1U << fine_bits;
    static constexpr std::uint32_t bin_count = 60 * fine;

    [[nodiscard]] static std::uint32_t bin_of(std::uint64_t bytes) noexcept
    {
        const auto width = static_cast<std::uint32_t>(std::bit_width(bytes | fine));
        return (width - fine_bits - 1) * fine +
               (static_cast<std::uint32_t>(bytes >> (width - fine_bits - 1)) & (fine - 1));
    }
    // Returns the first bin that is not empty, from `bin` (inclusive) on; bin_count if there is none.
    [[nodiscard]] std::uint32_t next_bin(std::uint32_t bin) const noexcept
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

    // Returns the smallest range of the bin that has at least `bytes`; 0 if there is none. Of several such ranges of
    // equal size, it returns the one at the lowest address, so that chunks at high addresses become free and can be
    // returned.
    [[nodiscard]] Number smallest_in(std::uint32_t bin, std::uint64_t bytes) const noexcept
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

    LazyArray<Range> ranges_;
    Number used_{};
    Number unused_{};
    std::array<Number, bin_count> bins_{};
    std::uint64_t coarse_map_{};
    std::array<std::uint16_t, 64> fine_map_{};
    std::uint64_t free_bytes_{};
    std::uint64_t free_ranges_{};
};

// Maps the address of a block in use to the number of its record, in a hash table. So blocks need no headers.
//
// Cost     a hash and a few probes.
// Memory   8 MiB of address space, but pages only for its used part.
// Threads  one at a time, under the owner's lock.
class AddressMap {
  public:
    explicit AddressMap(const RangeRecords& records) : records_{records}, places_{places} {}

    void insert(std::uint32_t number) noexcept
    {
        std::uint32_t place = home_of(number);
        while (places_[place] != 0) {
            place = (place + 1) & mask;
        }
        places_[place] = number;
    }

    // Removes the entry of an address and returns the number of its record; 0 if there is no entry.
    [[nodiscard]] std::uint32_t take(const void* address) noexcept
    {
        std::uint32_t place = home_of(address);
        while (places_[place] != 0 && records_.record(places_[place]).start != address) {
            place = (place + 1) & mask;
        }
        const std::uint32_t number = places_[place];
        if (number != 0) {
            close_gap(place);
        }
        return number;
    }

  private:
    static constexpr std::uint32_t places = 2 * RangeRecords::max_ranges;
    static constexpr std::uint32_t mask = places - 1;

    [[nodiscard]] std::uint32_t home_of(const void* address) const noexcept
    {
        constexpr std::uint64_t golden = 0x9E37'79B9'7F4A'7C15;
        return static_cast<std::uint32_t>((reinterpret_cast<std::uintptr_t>(address) * golden) >> 32U) & mask;
    }
    [[nodiscard]] std::uint32_t home_of(std::uint32_t number) const noexcept
    {
        return home_of(records_.record(number).start);
    }

    // Closes a gap by moving back those entries that a search could no longer reach.
    void close_gap(std::uint32_t gap) noexcept
    {
        for (std::uint32_t at = (gap + 1) & mask; places_[at] != 0; at = (at + 1) & mask) {
            const std::uint32_t wanted_distance = (at - home_of(places_[at])) & mask;
            if (wanted_distance >= ((at - gap) & mask)) {
                places_[gap] = places_[at];
                gap = at;
            }
        }
        places_[gap] = 0;
    }

    const RangeRecords& records_;
    LazyArray<std::uint32_t> places_;
};

}  // namespace memsweep::memory
