// Finds the sizes at which an allocator's cost jumps: a sweep over sizes, then a bisection of every jump to the byte.
//
// A jump in faults is exact and decides first; a jump in time counts only where faults do not jump, and must still be
// there when both of its sides are measured again.
// Units    bytes; page faults and nanoseconds per operation.
// Cost     one measurement per size of the sweep, about log2 of the distance between two of them for each cliff.
// Errors   the first that a measurement gives.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/expected.hpp"

namespace memsweep::measure {

struct SizeCost {
    std::uint64_t bytes{};
    double faults_per_op{};
    double ns_per_op{};
};

enum class CliffKind : std::uint8_t { faults, time };

struct Cliff {
    CliffKind kind{};
    SizeCost cheap;  // the last size before the jump
    SizeCost dear;   // one byte more
};

struct SizeRange {
    std::uint64_t from{64};
    std::uint64_t to{64U << 20U};
    unsigned per_doubling{4};
};

// Must not depend on the sizes asked before: each in a process of its own.
using CostOfSize = std::function<base::Expected<SizeCost>(std::uint64_t bytes)>;

struct CliffSurvey {
    std::vector<SizeCost> sizes;  // of the sweep, ascending
    std::vector<Cliff> cliffs;
};

[[nodiscard]] std::vector<std::uint64_t> sizes_of(const SizeRange& range);
[[nodiscard]] base::Expected<CliffSurvey> find_cliffs(const SizeRange& range, const CostOfSize& cost_of);

// More than three times the cost, and for faults at least one more per operation.
[[nodiscard]] bool is_cliff(CliffKind kind, const SizeCost& cheap, const SizeCost& dear);

}  // namespace memsweep::measure
