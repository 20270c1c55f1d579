// The ranges that a pool's chunks are cut into, and the free ones among them in bins by size: what a best-fit pool and
// TLSF differ in is only how they look through the bins.
//
// Units    bytes.
// Sources  Masmano, Ripoll, Crespo, Real, "TLSF: a new dynamic memory allocator for real-time systems" (2004).
// Cost     inserting and removing: constant. find_near: constant. find_best: looks at every range of a bin.
// Memory   40 bytes per range, in a mapping of their own; the ranges themselves are never touched.
// Threads  the owner's lock.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "core/memory/lazy_array.hpp"
#include "core/memory/pool.hpp"

namespace memsweep::memory {

class RangeRecords {
  public:
    static constexpr std::uint32_t max_ranges = 1U << 20U;

    // Numbers of ranges are 1 + their place; 0 is none.
    using Number = std::uint32_t;
    struct Range {
        std::byte* start{};
        std::uint64_t bytes{};
        Number before{}, after{};        // neighbours in the chunk
        Number previous{}, following{};  // in its bin; following: also of records that are not in use
        bool free{};
    };

    RangeRecords() : ranges_{max_ranges} {}

    [[nodiscard]] const Range& record(Number number) const noexcept { return ranges_[number - 1]; }
    [[nodiscard]] Range& record(Number number) noexcept { return ranges_[number - 1]; }

    // 0: there are no more.
    [[nodiscard]] Number add(const Range& range) noexcept;
    void forget(Number number) noexcept;

    void insert_free(Number number) noexcept;
    void remove_free(Number number) noexcept;

    // A free range of at least this size; 0: there is none (find_near: or only ones of nearly the same size).
    [[nodiscard]] Number find_best(std::uint64_t bytes) const noexcept;
    [[nodiscard]] Number find_near(std::uint64_t bytes) const noexcept;

    [[nodiscard]] std::uint64_t free_bytes() const noexcept { return free_bytes_; }
    [[nodiscard]] std::uint64_t free_ranges() const noexcept { return free_ranges_; }
    [[nodiscard]] std::uint64_t largest_free_bytes() const noexcept;

    template <typename Visit>
    void each_free(const Visit& visit) const
    {
        for (const Number head : bins_) {
            for (Number at = head; at != 0;) {
                const Number next = record(at).following;  // the visitor may remove it
                visit(at);
                at = next;
            }
        }
    }

  private:
    // Sixteen bins per doubling.
    static constexpr std::uint32_t fine_bits = 4;
    static constexpr std::uint32_t fine = 1U << fine_bits;
    static constexpr std::uint32_t bin_count = 60 * fine;

    [[nodiscard]] static std::uint32_t bin_of(std::uint64_t bytes) noexcept
    {
        const auto width = static_cast<std::uint32_t>(std::bit_width(bytes | fine));
        return (width - fine_bits - 1) * fine +
               (static_cast<std::uint32_t>(bytes >> (width - fine_bits - 1)) & (fine - 1));
    }
    // The first bin from this one on that holds anything; bin_count: none.
    [[nodiscard]] std::uint32_t next_bin(std::uint32_t bin) const noexcept;
    [[nodiscard]] Number smallest_in(std::uint32_t bin, std::uint64_t bytes) const noexcept;

    LazyArray<Range> ranges_;
    Number used_{};
    Number unused_{};
    std::array<Number, bin_count> bins_{};
    std::uint64_t coarse_map_{};
    std::array<std::uint16_t, 64> fine_map_{};
    std::uint64_t free_bytes_{};
    std::uint64_t free_ranges_{};
};

// From the address of a block in use to the number of its record, for blocks that carry no header of their own.
//
// Cost     a hash and a few probes.
// Memory   4 bytes per place, pages only where places were used.
// Threads  the owner's lock.
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

// A pool that cuts what is asked for from chunks and joins what comes back with its free neighbours: best fit, or TLSF.
//
// Units    bytes; sizes are rounded up to the pool's alignment.
// Cost     one lock. TLSF constant; best fit looks at the free ranges of nearly the same size. Zeros are always
//          written.
// Memory   chunks of chunk_bytes, or of a request that is larger. A chunk that is free as a whole goes back when more
//          than limit_bytes lie idle.
// Errors   a block that comes back twice, or never came from here, is a bug and stops the process.
// Threads  any, one at a time.
class RangePool final : public Pool {
  public:
    RangePool(const model::PoolSpec& spec, MemoryResource& upstream);
    ~RangePool() override;

    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override;
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override;
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override;

    std::uint64_t trim(std::uint64_t keep_bytes) noexcept override;
    [[nodiscard]] PoolStats stats() const noexcept override;
    void reset_counts() noexcept override;

  private:
    using Number = RangeRecords::Number;

    [[nodiscard]] bool serves(std::size_t bytes, std::size_t alignment) const noexcept;
    [[nodiscard]] std::uint64_t rounded(std::size_t bytes) const noexcept;
    [[nodiscard]] Number find(std::uint64_t bytes) const noexcept;
    [[nodiscard]] Number take(std::uint64_t bytes) noexcept;
    [[nodiscard]] AllocStatus grow(std::uint64_t bytes) noexcept;
    [[nodiscard]] Number joined(Number left, Number right) noexcept;
    void give_back(Number chunk) noexcept;
    std::uint64_t release_chunks(std::uint64_t keep_bytes) noexcept;

    const model::PoolSpec spec_;
    MemoryResource& upstream_;
    mutable std::mutex mutex_;  // guards everything below
    RangeRecords ranges_;
    AddressMap in_use_;
    PoolStats stats_;  // sums; the rest is looked up when asked for
};

}  // namespace memsweep::memory
