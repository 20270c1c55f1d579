// Decides whether other work disturbed the machine in a round. The canary, a short piece of our own work, is timed
// before, between and after the two programs. So the programs' own times take no part.
//
// A round is repeated if its canary is off by more than the noise that it showed before. It does not matter which side
// was measured then. So leaving rounds out favours neither program, and the test of paired.hpp stays valid.
//
// Units    seconds.
// Cost     O(n log n) a round.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace memsweep::measure {

struct CanaryLimits {
    std::size_t repeats_of_round{2};  // then the round is kept as it is, and its canary's times count as normal
    double repeats_per_round{
        0.25};  // for all rounds together, rounded up: a machine that is never quiet is measured too
};

class CanaryRule {
  public:
    explicit CanaryRule(CanaryLimits limits = {}) : limits_(limits) {}

    // `canary`: its times in the round that was just measured, at least one. Returns a sentence that says why the round
    // is to be measured again; empty: it is kept.
    [[nodiscard]] std::optional<std::string> why_repeat(std::span<const double> canary);

    [[nodiscard]] std::size_t repeats() const { return repeats_; }

  private:
    [[nodiscard]] bool may_repeat() const;

    CanaryLimits limits_;
    std::vector<double> normal_;  // from all rounds kept
    std::size_t rounds_{};        // kept
    std::size_t repeats_{};
    std::size_t repeats_here_{};
};

}  // namespace memsweep::measure
