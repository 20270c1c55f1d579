// The sizes at which an allocator's cost jumps: how they are found, and why those that are known are there.
//
// Units    bytes; page faults and nanoseconds per operation.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
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

// Must not depend on the sizes measured before: each is measured in a process of its own.
using CostOfSize = std::function<base::Expected<SizeCost>(std::uint64_t bytes)>;

struct CliffSurvey {
    std::vector<SizeCost> sizes;  // of the sweep, ascending
    std::vector<Cliff> cliffs;
};

[[nodiscard]] std::vector<std::uint64_t> sizes_of(const SizeRange& range);

// A sweep over sizes, then a bisection of every jump to the byte. A jump in faults is exact and decides first. A jump
// in time counts only where faults do not jump, and must still be there when both of its sides are measured again.
//
// Cost     one measurement per size of the sweep, and about log2 of the distance between two sizes for each cliff.
// Errors   the first that a measurement returns.
[[nodiscard]] base::Expected<CliffSurvey> find_cliffs(const SizeRange& range, const CostOfSize& cost_of);

// More than three times the cost, and for faults at least one more per operation.
[[nodiscard]] bool is_cliff(CliffKind kind, const SizeCost& cheap, const SizeCost& dear);

struct CliffSetting {
    std::string_view variable;
    std::string_view value;
};

// Why an allocator has a cliff that is known, and the settings that should move it.
//
// Sources  glibc 2.36, jemalloc 5.3.0, mimalloc 2.0.9 and gperftools 2.10 (Debian 12): their documentation and source
//          name the limits. `memsweep cliffs` tries every setting and reports what it really did.
struct CliffCause {
    std::string_view allocator;
    CliffKind kind{};
    std::uint64_t lowest{};  // the last cheap size lies from here
    std::uint64_t highest{};
    std::string_view text;
    std::span<const CliffSetting> settings;  // to try, one by one
    std::string_view without;                // why there is none; empty when there are settings
};

[[nodiscard]] const CliffCause* find_cause(std::string_view allocator, const Cliff& cliff);  // nullptr: not known

}  // namespace memsweep::measure
