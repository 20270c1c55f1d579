// The rounds of `run --against`: when there are enough of them, which is measured again, and what they come to.
//
// Cost     some 2 ms of canary before each program and at the end of a round.
// Errors   compare(): none that a user can cause.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/expected.hpp"
#include "core/engine/admission.hpp"
#include "core/measure/canary.hpp"
#include "core/measure/comparison.hpp"
#include "core/sys/clock.hpp"

namespace memsweep::app {

// Two builds of a report: build=base against build=candidate.
[[nodiscard]] base::Expected<measure::Comparison> compare_builds(const model::RunReport& report,
                                                                 const measure::Criteria& criteria);

class BuildRounds {
  public:
    struct Limits {
        bool until_sure{};  // else as many rounds as were planned
        std::optional<std::chrono::nanoseconds> budget;
    };

    BuildRounds(const sys::Clock& clock, const measure::Criteria& criteria, Limits limits);

    void before_turn();
    [[nodiscard]] engine::RoundEnd round_ended(const model::RunReport& report);

    // Of rounds that were measured again, and of a budget that ended them.
    [[nodiscard]] std::vector<model::Warning> warnings() const;

  private:
    void time_canary();
    [[nodiscard]] bool is_over_budget(std::chrono::nanoseconds round) const;

    const sys::Clock& clock_;
    const measure::Criteria& criteria_;
    Limits limits_;
    measure::CanaryRule canary_;
    std::vector<double> canary_times_;  // of this round
    std::uint64_t canary_sum_{};        // so that its work is not optimised away
    std::chrono::nanoseconds began_;
    std::chrono::nanoseconds round_began_;
    std::string last_repeat_;
    bool ran_out_{};
};

}  // namespace memsweep::app
