// From the address of a block in use to the number of its record, for blocks that carry no header of their own.
//
// Cost     a hash and a few probes.
// Memory   4 bytes per place, pages only where places were used.
// Threads  the owner's lock.
#pragma once

#include <cstdint>

#include "core/memory/lazy_array.hpp"
#include "core/memory/range_records.hpp"

namespace memsweep::memory {

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

    // Takes the entry out; 0: there is none.
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
    static constexpr std::uint32_t places = 2 * RangeRecords::most_ranges;
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

    // Moves back whatever a probe could no longer reach across the gap.
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
