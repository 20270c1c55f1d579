// What the machine itself changed by between two results, by fixed work that was timed in the rounds of both, and by
// what a case's own page faults took.
//
// Units    a ratio candidate / base, above 1 where the machine was slower under the candidate.
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
    // What a case does of the same kind, as far as it is known: then a drift excuses no more than that share of its
    // time, and the ratio is that of the case.
    double share{1};
};

// One drift for each kind of work whose ratio is 2 % or more from 1 and whose interval excludes 1. Each side needs at
// least min_repetitions rounds.
[[nodiscard]] std::vector<MachineDrift> machine_drifts(const model::MachineRounds& base,
                                                       const model::MachineRounds& candidate);

// The drifts as they bear on a metric of a case. If a case faults or returns memory for a tenth of its time, a tenth of
// such a drift bears on it. The share is that of wall_time, or of cpu_time for that metric, by fault_time,
// allocator_time and kernel_time, if they were measured and the metric is a time of all that the case does; else the
// drift is whole. A drift of which less than 2 % is left is none.
//
// One more drift is what the case's own faults have changed by, if both sides had as many: its kernel_time a fault. A
// host that takes freed memory back makes the memory of a case dearer, and not the little that the rounds touch.
[[nodiscard]] std::vector<MachineDrift> drifts_of_case(std::vector<MachineDrift> drifts, const CasePair& pair,
                                                       std::string_view metric);

// The drift without which what is left of a change in time or throughput is within its threshold. The one that leaves
// least; nullptr: none explains it.
[[nodiscard]] const MachineDrift* explaining(const std::vector<MachineDrift>& drifts, const MetricComparison& metric);

// That this drift explains the change.
[[nodiscard]] SlowerMachine slower_machine(const MachineDrift& drift, const MetricComparison& metric);

}  // namespace memsweep::measure
