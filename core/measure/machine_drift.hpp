// How much the speed of the machine itself changed between two results (drift). The evidence is fixed work that was
// timed in the rounds of both results, and the time of a case's own page faults.
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
    // The share of the case's time that is work of this kind. If the share is known, `ratio` is the effect on the whole
    // case, and the drift excuses no more than that effect.
    double share{1};
};

// One drift for each kind of work whose ratio is 2 % or more from 1 and whose interval excludes 1. Each side needs at
// least min_repetitions rounds.
[[nodiscard]] std::vector<MachineDrift> machine_drifts(const model::MachineRounds& base,
                                                       const model::MachineRounds& candidate);

// The effect of the drifts on a metric of a case. For example, if page faults take a tenth of a case's time, only a
// tenth of the drift of page faults affects the case. The same holds for returning memory. The share is fault_time,
// allocator_time or kernel_time, divided by cpu_time if that is the metric, else by wall_time. If these were not
// measured, or the metric is the time of a single event, the whole drift counts. Drifts of less than 2 % after this are
// left out.
//
// One more drift is the change of kernel_time per page fault of the case itself. It is used if both sides had about the
// same number of faults. If the host takes freed memory back, touching memory costs a case more. The fixed work does
// not show this, because it touches little memory.
[[nodiscard]] std::vector<MachineDrift> drifts_of_case(std::vector<MachineDrift> drifts, const CasePair& pair,
                                                       std::string_view metric);

// The drift that explains a change in time or throughput. A drift explains the change if the rest of the change is
// within the threshold. If several drifts explain the change, returns the one that leaves the least. nullptr: none
// explains it.
[[nodiscard]] const MachineDrift* explaining(const std::vector<MachineDrift>& drifts, const MetricComparison& metric);

// The reason of a verdict whose change this drift explains.
[[nodiscard]] SlowerMachine slower_machine(const MachineDrift& drift, const MetricComparison& metric);

}  // namespace memsweep::measure
