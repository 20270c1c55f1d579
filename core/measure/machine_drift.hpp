// Measures how much the speed of the machine itself changed between two results (drift). The evidence is fixed work
// that was timed in the rounds of both results, and the time that a case's own page faults took.
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
    // The share of the case's time that is work of this kind. If this share is known, `ratio` is the effect of the
    // drift on the whole case. If it is not known, it stays 1, and `ratio` is the drift itself.
    double share{1};
};

// Returns a drift for each kind of work whose ratio differs from 1 by at least 2 % and whose interval excludes 1. Both
// sides must have at least min_repetitions rounds of this work.
[[nodiscard]] std::vector<MachineDrift> machine_drifts(const model::MachineRounds& base,
                                                       const model::MachineRounds& candidate);

// Returns the drifts as they affect a metric of a case. For example, if page faults take a tenth of a case's time, only
// a tenth of the drift of page faults affects the case. The drift of returning memory is scaled in the same way. The
// share is fault_time, allocator_time or kernel_time, divided by cpu_time if cpu_time is the metric, else by wall_time.
// If these times were not measured, or if the metric is the time of a single event, the whole drift counts. Scaled
// drifts of less than 2 % are left out.
//
// Adds one more drift: the change of the case's own kernel_time per page fault, if both sides had about the same number
// of faults. Touching memory costs a case more if the host of a virtual machine takes freed memory back. The fixed work
// does not show this cost, because it touches little memory.
[[nodiscard]] std::vector<MachineDrift> drifts_of_case(std::vector<MachineDrift> drifts, const CasePair& pair,
                                                       std::string_view metric);

// Returns the drift that explains a change in time or throughput, or nullptr if no drift does. A drift explains the
// change if it has the same direction, and if the change that is left after correction for the drift is within the
// threshold. If several drifts explain the change, returns the one that leaves the least.
[[nodiscard]] const MachineDrift* explaining(const std::vector<MachineDrift>& drifts, const MetricComparison& metric);

// Returns the reason for the verdict on a change that this drift explains.
[[nodiscard]] SlowerMachine slower_machine(const MachineDrift& drift, const MetricComparison& metric);

}  // namespace memsweep::measure
