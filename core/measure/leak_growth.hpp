// Computes how much more memory a program holds for each operation that it did, from runs with different numbers of
// operations.
//
// A slope proves nothing, because a table that grew once, or noise, also has a slope. Here memory grows steadily only
// if every step from fewer to more operations leaves more behind. A step does so if the least memory of any run with
// more operations is above the most memory of any run with fewer. For k different numbers of operations and r runs of
// each, noise alone passes this test with a probability of r!^k / (k r)!. That is 0.06 % for k = r = 3. So programs
// that vary are run more often than programs that repeat to the byte.
//
// The number of operations is an argument of the program. A program that keeps its arguments holds one more byte for
// each further digit of the number. So the test forgives one more byte per block for each further digit, if the number
// of blocks stays the same.
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
    none,    // the last step leaves no more memory behind
    late,    // only the last steps leave more behind, perhaps because of something that happens once in many operations
    steady,  // every step leaves more behind
};

struct GrowthPerOperation {
    Growth growth{Growth::none};
    double bytes{};   // per operation, between the fewest and the most operations
    double blocks{};  // likewise
    bool is_exact{};  // runs with equal numbers of operations hold the same, and every step has the same rates
    bool varies{};    // runs with equal numbers of operations differ
    // Only if growth is `none`: the numbers of operations before and after the last step that left more behind; 0: no
    // step did.
    std::uint64_t grew_from{}, grew_until{};
};

// `runs` must have at least two different numbers of operations.
[[nodiscard]] GrowthPerOperation growth_of(std::span<const HeldAfter> runs);

}  // namespace memsweep::measure
