// Rounds that compare two sets of cases. They end after the planned number of rounds, or earlier: when every verdict is
// sure (Limits::until_sure), or when the budget is spent. If other work on the machine disturbed a round, the round is
// repeated.
//
// Cost     some 2 ms before each turn and at the end of each round, for a canary: a fixed computation whose time shows
//          whether other work disturbs the machine.
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
        bool until_sure{};  // true: stop as soon as every verdict is sure; false: run all planned rounds
        std::optional<std::chrono::nanoseconds> budget;  // absent: no limit
    };

    PairedRounds(Rounds rounds, Pair pair, Limits limits, const sys::Clock& clock);

    [[nodiscard]] Next next(const model::RunReport& report) override;

    // Warnings about rounds that were repeated, and about a budget that ended the rounds.
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
    std::vector<double> canary_times_;  // times of the canary in the present round, in seconds
    std::uint64_t canary_sum_{};        // keeps the compiler from removing the canary's computation
    std::chrono::nanoseconds began_;
    std::chrono::nanoseconds round_began_;
    std::optional<std::uint32_t> ended_round_;  // the round that has ended and has not been judged yet
    std::string last_repeat_;
    bool ran_out_{};
};

}  // namespace memsweep::schedule
