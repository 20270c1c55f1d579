// Computes how much more memory a program holds for each further operation, from runs with different numbers of
// operations.
//
// A slope proves nothing, because a table that grew once, or noise, also has a slope. Here memory counts as growing
// steadily only if every step leaves more memory behind. A step goes from one number of operations to the next larger
// one. It leaves more behind if every run with the larger number holds more than every run with the smaller number. For
// k different numbers of operations and r runs of each, noise alone passes this test with a probability of r!^k/(kr)!.
// That is 0.06 % for k = r = 3. So programs that vary are run more often than programs that repeat to the byte.
//
// The number of operations is an argument of the program. A program that keeps its arguments holds one more byte for
// each further digit of the number. So if the number of blocks stays the same, the test allows one more byte per block
// for each further digit.
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
    none,    // the last step does not leave more memory behind
    late,    // the last step leaves more behind, but an earlier one does not: perhaps a rare event caused the growth
    steady,  // every step leaves more behind
};

struct GrowthPerOperation {
    Growth growth{Growth::none};
    double bytes{};   // per operation, between the fewest and the most operations
    double blocks{};  // likewise
    bool is_exact{};  // runs with equal numbers of operations hold the same memory, and every step has the same rates
    bool varies{};    // runs with equal numbers of operations hold different memory
    // Only if growth is `none`: the numbers of operations before and after the last step that left more memory behind.
    // Both are 0 if no step did.
    std::uint64_t grew_from{}, grew_until{};
};

// `runs` must have at least two different numbers of operations.
[[nodiscard]] GrowthPerOperation growth_of(std::span<const HeldAfter> runs);

}  // namespace memsweep::measure
