// How much the machine itself changed between two results. It shows in fixed work that was timed in the rounds of both,
// and in the time of a case's own page faults.
//
// Units    a ratio candidate / base, above 1 if the machine was slower under the candidate.
#pragma once

#include <string_view>
#include <vector>

#include "core/measure/cases.hpp"
#include "core/measure/comparison.hpp"
#include "core/measure/statistics.hpp"
#include "core/model/report.hpp"

namespace memsweep::measure {

struct MachineDrift {
    TimedWork kind{};
    Shift ratio;
    double base_median{};
    double candidate_median{};
    // The share of the case's time that is work of this kind, if it is known. Then the drift excuses no more than that
    // share, and the ratio is that of the case.
    double share{1};
};

// One drift for each kind of work whose ratio is 2 % or more from 1 and whose interval excludes 1. Each side needs at
// least min_repetitions rounds.
[[nodiscard]] std::vector<MachineDrift> machine_drifts(const model::MachineRounds& base,
                                                       const model::MachineRounds& candidate);

// The drifts as they bear on a metric of a case. If a case faults or returns memory for a tenth of its time, a tenth of
// such a drift bears on it. The share is that of wall_time, or of cpu_time for that metric. It comes from fault_time,
// allocator_time and kernel_time, if they were measured and the metric is a time of all that the case does. Else the
// drift is whole. A drift of which less than 2 % is left does not count.
//
// One more drift comes from the case's own faults, if both sides had about as many: the change of its kernel_time for
// each fault. If the host takes freed memory back, the memory of a case becomes dearer, but the little that the rounds
// touch does not.
[[nodiscard]] std::vector<MachineDrift> drifts_of_case(std::vector<MachineDrift> drifts, const CasePair& pair,
                                                       std::string_view metric);

// The drift that explains a change in time or throughput: without it, the rest of the change is within the threshold.
// If several drifts explain it, the one that leaves least. nullptr: none explains the change.
[[nodiscard]] const MachineDrift* explaining(const std::vector<MachineDrift>& drifts, const MetricComparison& metric);

// The reason that says that this drift explains the change.
[[nodiscard]] SlowerMachine slower_machine(const MachineDrift& drift, const MetricComparison& metric);

}  // namespace memsweep::measure
