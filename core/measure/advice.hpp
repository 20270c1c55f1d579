// Whether a setting of an allocator is worth having: what it gains in memory, and what it costs in time, judged from
// pairs of runs, one of the program as it is and one with the setting, in random order.
//
// Two claims, two tests. Memory repeats nearly to the byte in most programs, so that a few pairs prove a gain. Time
// does not, so that its test assumes nothing of the noise (paired.hpp), asks one question, whether the program takes no
// longer than it may, and may be stopped at any pair.
//
// Units    memory in bytes, time in seconds; ratios with the setting over without.
// Cost     O(n^2 log n) for n pairs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/measure/paired.hpp"

namespace memsweep::measure {

// Less than this is not worth a setting that somebody must remember.
struct LeastGain {
    double share{0.03};
    std::uint64_t bytes{std::uint64_t{1} << 20U};

    [[nodiscard]] double of(double memory) const;  // in bytes: the larger of the two
};

enum class Claim : std::uint8_t { open, proven, refuted };

struct Judged {
    Claim claim{};
    double ratio{1};                              // of the medians for one pair or two, else the mean or the estimate
    std::optional<std::array<double, 2>> ci95{};  // of the ratio; empty for fewer than three pairs
    std::size_t pairs{};
};

// Proven: the setting gains at least what is worth it, by at least three pairs, and not by chance (Student's t, one
// side, 0.5 %, so that looking after every pair and at a second setting stay below 5 %). Refuted: it gains less, or ten
// pairs have not shown it.
[[nodiscard]] Judged judge_gain(std::span<const PairOfValues> memory, const LeastGain& least);

// Proven: the program takes less than `at_most` times as long, wrongly for at most one of a hundred settings that take
// longer. Refuted: it takes longer, or ten pairs say 3 % longer.
[[nodiscard]] Judged judge_price(std::span<const PairOfValues> time, double at_most);

// Whether a price may be advised: it is proven, or the pairs, however few, do not estimate it above what is allowed.
[[nodiscard]] bool is_affordable(const Judged& price, double at_most);

}  // namespace memsweep::measure
