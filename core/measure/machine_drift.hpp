// What the machine itself changed by between two results, by fixed work that was timed in the rounds of both.
//
// Units    a ratio candidate / base, above 1 where the machine was slower under the candidate.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/measure/comparison.hpp"
#include "core/measure/statistics.hpp"
#include "core/model/report.hpp"

namespace memsweep::measure {

struct MachineDrift {
    std::string_view work;  // "a computation"
    Shift ratio;
    double base_median{};
    double candidate_median{};
};

// Of each kind of work that is shown to have changed, by 2 % or more: a change in which its interval has no part, of at
// least min_repetitions rounds a side.
[[nodiscard]] std::vector<MachineDrift> machine_drifts(const model::MachineRounds& base,
                                                       const model::MachineRounds& candidate);

// The drift without which what is left of a change in time or throughput is within its threshold. The one that leaves
// least; nullptr: none explains it.
[[nodiscard]] const MachineDrift* explaining(const std::vector<MachineDrift>& drifts, const MetricComparison& metric);

// "the machine was 12 % slower (a copy took 0.45 ms instead of 0.40 ms): without that 0.8 % is left, within the 5 %
// allowed"
[[nodiscard]] std::string drift_text(const MachineDrift& drift, const MetricComparison& metric);

}  // namespace memsweep::measure
