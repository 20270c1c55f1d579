// Judges whether an allocator setting is worth having: what it gains in memory, and what it costs in time. The evidence
// is pairs of runs: one of the unchanged program and one with the setting, in random order.
//
// Gain and cost have different tests. Memory repeats nearly to the byte in most programs, so a few pairs prove a gain.
// Time varies more, so its test assumes nothing about the noise (paired.hpp), and may be stopped after any pair.
//
// Units    memory in bytes, time in seconds. Ratios are with the setting / without it.
// Cost     O(n^2 log n) for n pairs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/measure/paired.hpp"

namespace memsweep::measure {

// The smallest gain for which a setting is worth advising, because somebody has to remember it.
struct LeastGain {
    double share{0.03};
    std::uint64_t bytes{std::uint64_t{1} << 20U};

    [[nodiscard]] double of(double memory) const;  // in bytes: `share` of the memory, but at least `bytes`
};

// The stage of a search that a setting has reached.
enum class AdviceStage : std::uint8_t { untried, race, rerun, confirmation };

enum class Claim : std::uint8_t { open, proven, refuted };

struct Judged {
    Claim claim{};
    // For a gain: the mean of the pairs' ratios; for a price: the Hodges-Lehmann estimate.
    double ratio{1};
    std::optional<std::array<double, 2>> ci95{};  // of the ratio; nullopt for fewer than three pairs
    std::size_t pairs{};
};

// Judges whether a setting saves memory. Proven: over at least three pairs the mean gain is at least `least`, and
// chance does not explain the gain. The test is Student's t, one-sided, at 0.5 %. So the chance of a false proof stays
// below 5 %, even if two settings are tested after every pair. Refuted: the 95 % interval of the gain is below `least`,
// or ten pairs have not proven the gain.
[[nodiscard]] Judged judge_gain(std::span<const PairOfValues> memory, const LeastGain& least);

// Judges whether a setting costs little enough time. Proven: with the setting, the program takes less than `at_most`
// times as long as without. Of a hundred settings that take longer, at most one is wrongly called proven. Refuted:
// the pairs show that the setting costs more time, or after ten pairs the estimated ratio is more than 3 % above
// `at_most`.
[[nodiscard]] Judged judge_price(std::span<const PairOfValues> time, double at_most);

// Whether a setting with this price may be advised. It may if the price is proven, or if the price is open and the
// estimated ratio is at most 3 % above `at_most`, however few the pairs.
[[nodiscard]] bool is_affordable(const Judged& price, double at_most);

}  // namespace memsweep::measure
