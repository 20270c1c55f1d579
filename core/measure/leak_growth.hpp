// Says how much a program holds for each operation that it did, from runs with different numbers of operations.
//
// A slope proves nothing: a table that grew once, or noise, has one too. Here memory grows steadily only if every step
// to more operations leaves more behind. A step does so if the least that any run with more operations held is above
// the most that any run with fewer held. For r runs of each of k numbers, noise alone passes this test with a
// probability of r!^k / (k r)!. That is 0.06 % for three runs of three numbers. So programs that vary are run more
// often than those that repeat to the byte.
//
// A program that keeps its arguments holds one more byte for each further digit of the number. So if the number of
// blocks stays the same, each block may be longer by that many bytes.
//
// Units    bytes, blocks; rates are per operation.
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
    late,    // only the last steps do: perhaps something happens once in so many operations
    steady,  // every step does
};

struct GrowthPerOperation {
    Growth growth{Growth::none};
    double bytes{};   // per operation, from the fewest operations to the most
    double blocks{};  // likewise
    bool is_exact{};  // runs with the same number hold the same, and every step has the same rates
    bool varies{};    // runs with the same number differ
    // Operations: what is no growth left more behind in the last step that did, between these; 0: no step did.
    std::uint64_t grew_from{}, grew_until{};
};

// At least two different numbers of operations.
[[nodiscard]] GrowthPerOperation growth_of(std::span<const HeldAfter> runs);

}  // namespace memsweep::measure
