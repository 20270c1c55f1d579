// Judges whether a setting of an allocator is worth having: what it gains in memory, and what it costs in time. It goes
// by pairs of runs: one of the unchanged program and one with the setting, in random order.
//
// The two claims have two tests. Memory repeats nearly to the byte in most programs, so a few pairs prove a gain. Time
// does not, so its test assumes nothing of the noise (paired.hpp). It asks whether the program takes no longer than it
// may, and may be stopped at any pair.
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

// A smaller gain is not worth a setting that somebody must remember.
struct LeastGain {
    double share{0.03};
    std::uint64_t bytes{std::uint64_t{1} << 20U};

    [[nodiscard]] double of(double memory) const;  // in bytes: the larger of the two
};

// How far a search has taken a setting.
enum class AdviceStage : std::uint8_t { untried, race, rerun, confirmation };

enum class Claim : std::uint8_t { open, proven, refuted };

struct Judged {
    Claim claim{};
    double ratio{1};                              // of the medians for one pair or two, else the mean or the estimate
    std::optional<std::array<double, 2>> ci95{};  // of the ratio; empty for fewer than three pairs
    std::size_t pairs{};
};

// Proven: at least three pairs show that the setting gains at least `least`, and not by chance. The test is Student's
// t, one side, at 0.5 %: so looking after every pair, and at a second setting, stays below 5 %. Refuted: the setting
// gains less, or ten pairs have not shown the gain.
[[nodiscard]] Judged judge_gain(std::span<const PairOfValues> memory, const LeastGain& least);

// Proven: the program takes less than `at_most` times as long. Of a hundred settings that take longer, at most one is
// wrongly called proven. Refuted: it takes longer than that, or ten pairs estimate 3 % more than `at_most`.
[[nodiscard]] Judged judge_price(std::span<const PairOfValues> time, double at_most);

// Whether a price may be advised: it is proven, or the estimate of the pairs, however few, is not above what is
// allowed.
[[nodiscard]] bool is_affordable(const Judged& price, double at_most);

}  // namespace memsweep::measure
