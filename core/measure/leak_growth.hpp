// What a program holds for each operation that it did, by runs of different numbers of them.
//
// A slope proves nothing: a table that grew once, or noise, has one too. Here memory grows where every step to more
// operations leaves more behind, and the least that any run of more operations held is above the most of any run of
// fewer. Of r runs for each of k numbers, noise alone does that with a probability of r!^k / (k r)!: 0.06 % for three
// runs of three numbers, so what varies is asked more often than what repeats to the byte.
//
// A program that keeps its arguments holds a byte more for each digit more of the number that it was given: up to that
// many bytes in each of as many blocks are no growth.
//
// Units    bytes, blocks; both for one operation in the rates.
// Cost     sorts the runs.
#pragma once

#include <cstdint>
#include <span>

namespace memsweep::measure {

struct HeldAfter {
    std::uint64_t operations{};
    std::uint64_t bytes{};
    std::uint64_t blocks{};
};

enum class Growth : std::uint8_t {
    none,    // the last step leaves no more behind
    late,    // only the last steps do: perhaps something that happens once in so many operations
    steady,  // every step does
};

struct GrowthPerOperation {
    Growth growth{Growth::none};
    double bytes{};   // from the fewest operations to the most
    double blocks{};  // likewise
    bool is_exact{};  // runs of as many operations hold the same, and every step has the same rates
    bool varies{};    // runs of as many operations differ
};

// At least two different numbers of operations.
[[nodiscard]] GrowthPerOperation growth_of(std::span<const HeldAfter> runs);

}  // namespace memsweep::measure
