// Rounds that compare two families of cases while they run: until every verdict is sure, or a budget ends them. If the
// machine disturbed a round, it is taken again.
//
// Cost     some 2 ms of canary before each turn and at the end of a round.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/measure/canary.hpp"
#include "core/measure/comparison.hpp"
#include "core/model/assertion.hpp"
#include "core/schedule/rounds.hpp"
#include "core/sys/clock.hpp"

namespace memsweep::schedule {

class PairedRounds final : public Schedule {
  public:
    struct Pair {
        model::RatioOf base;
        model::RatioOf candidate;
        measure::Criteria criteria;
    };
    struct Limits {
        bool until_sure{};  // else as many rounds as were planned
        std::optional<std::chrono::nanoseconds> budget;
    };

    PairedRounds(Rounds rounds, Pair pair, Limits limits, const sys::Clock& clock);

    [[nodiscard]] Next next(const model::RunReport& report) override;

    // Warnings about rounds that were measured again, and about a budget that ended them.
    [[nodiscard]] std::vector<model::Warning> warnings() const;

  private:
    enum class Verdict : std::uint8_t { goes_on, repeated, last };

    [[nodiscard]] Verdict judge_round(const model::RunReport& report);
    void time_canary();

    Rounds rounds_;
    Pair pair_;
    Limits limits_;
    const sys::Clock& clock_;
    measure::CanaryRule canary_;
    std::vector<double> canary_times_;  // this round's
    std::uint64_t canary_sum_{};        // so that its work is not optimised away
    std::chrono::nanoseconds began_;
    std::chrono::nanoseconds round_began_;
    std::optional<std::uint32_t> ended_round_;  // not judged yet
    std::string last_repeat_;
    bool ran_out_{};
};

}  // namespace memsweep::schedule
