// Judges whether an allocator setting is worth having: what it gains in memory, and what it costs in time. The evidence
// is pairs of runs: one of the unchanged program and one with the setting, in random order.
//
// Gain and cost have different tests. Memory repeats nearly to the byte in most programs, so a few pairs prove a gain.
// Time varies more, so its test assumes nothing about the noise (paired.hpp), and may be stopped after any pair.
//
// Units    memory in bytes, time in seconds. A ratio is the value with the setting divided by the value without it.
// Cost     O(n^2 log n) for n pairs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/measure/paired.hpp"

namespace memsweep::measure {

// The smallest gain for which a setting is advised. A smaller gain is not worth the trouble of remembering the setting.
struct LeastGain {
    double share{0.03};
    std::uint64_t bytes{std::uint64_t{1} << 20U};

    // Returns the gain in bytes: `share` of `memory`, but at least `bytes`. `memory`: what is used without the setting.
    [[nodiscard]] double of(double memory) const;
};

// The stage of a search that a setting has reached.
enum class AdviceStage : std::uint8_t { untried, race, rerun, confirmation };

enum class Claim : std::uint8_t { open, proven, refuted };

struct Judged {
    Claim claim{};
    // For a gain (memory), the mean of the pairs' ratios. For a price (time), the Hodges-Lehmann estimate of the ratio.
    double ratio{1};
    std::optional<std::array<double, 2>> ci95{};  // of the ratio; nullopt for fewer than three pairs
    std::size_t pairs{};
};

// Judges whether a setting saves memory. Proven: over three pairs or more, the mean gain is at least `least`, and
// chance does not explain the gain. The test is Student's t, one-sided, at 0.5 %. So the chance of a false proof stays
// below 5 %, even if two settings are tested after every pair. Refuted: all of the gain's 95 % interval is below
// `least`, or the gain is not proven after ten pairs.
[[nodiscard]] Judged judge_gain(std::span<const PairOfValues> memory, const LeastGain& least);

// Judges whether a setting costs little enough time. Proven: with the setting, the program takes less than `at_most`
// times as long as without. Of a hundred settings that cost more time than this, at most one is wrongly called proven.
// Refuted: the pairs show that the setting costs more time than this, or after ten pairs the estimated ratio is more
// than 3 % above `at_most`.
[[nodiscard]] Judged judge_price(std::span<const PairOfValues> time, double at_most);

// Whether a setting with this price may be advised. It may if the price is proven. It may also, even after a single
// pair, if the price is open and the estimated ratio is at most 3 % above `at_most`.
[[nodiscard]] bool is_affordable(const Judged& price, double at_most);

}  // namespace memsweep::measure
