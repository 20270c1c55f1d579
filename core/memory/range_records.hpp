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

#include "core/memory/lazy_array.hpp"

namespace memsweep::memory {

class RangeRecords {
  public:
    static constexpr std::uint32_t most_ranges = 1U << 20U;

    // Numbers of ranges are 1 + their place; 0 is none.
    using Number = std::uint32_t;
    struct Range {
        std::byte* start{};
        std::uint64_t bytes{};
        Number before{}, after{};        // neighbours in the chunk
        Number previous{}, following{};  // in its bin; following: also of records that are not in use
        bool free{};
    };

    RangeRecords() : ranges_{most_ranges} {}

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

}  // namespace memsweep::memory
