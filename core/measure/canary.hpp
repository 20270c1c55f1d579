// Decides whether other work disturbed the machine in a round. The canary, a short piece of our own work, is timed
// before, between and after the two programs of the round. The programs' own times play no part in the decision.
//
// A round is repeated if one of its canary times is further from the median of earlier canary times than their noise
// explains. Because the programs' times play no part, leaving rounds out favours neither program, and the test of
// paired.hpp stays valid.
//
// Units    seconds.
// Cost     O(n log n) per round, after n rounds.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace memsweep::measure {

struct CanaryLimits {
    // After this many repeats a round is kept in any case, and its canary times count as normal.
    std::size_t repeats_of_round{2};
    double repeats_per_round{
        0.25};  // most repeats in total, as a share of all rounds (rounded up), so that every comparison ends
};

class CanaryRule {
  public:
    explicit CanaryRule(CanaryLimits limits = {}) : limits_(limits) {}

    // `canary`: the canary times of the round that was just measured, at least one. Returns a sentence that says why
    // the round is to be measured again; nullopt: the round is kept.
    [[nodiscard]] std::optional<std::string> why_repeat(std::span<const double> canary);

    [[nodiscard]] std::size_t repeats() const { return repeats_; }

  private:
    [[nodiscard]] bool may_repeat() const;

    CanaryLimits limits_;
    std::vector<double> normal_;  // canary times of all rounds that were kept
    std::size_t rounds_{};        // rounds kept
    std::size_t repeats_{};
    std::size_t repeats_here_{};  // repeats of the present round
};

}  // namespace memsweep::measure
