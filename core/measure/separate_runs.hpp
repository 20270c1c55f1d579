// Says what the machine may have done to a time between two runs that ran one after the other. Within one run the
// repetitions of both sides alternate, and none of this applies.
//
// Other work only adds to a time. So
//   - Repetitions that waited much longer for a processor than the best one do not count. If too few of a side remain,
//     a change in a time that includes such waiting is the case's only if the waiting is far too little to explain it.
//   - If the slower side waited longer, half of that may be in its processor time too, spent on filling caches anew.
//   - A change must show in the fastest tenth of the slower side's repetitions too. It must be slower than the other
//     side's median by more than is allowed, also for a machine that was as fast.
//   - The time of one event (a latency or a pause) follows how threads take turns. So does every time of a case with a
//     finalizer thread, by up to some 25 %. No change in such a time is the case's if the shares of time that the two
//     sides waited for a processor differ by 2 %. Nor is a change in a maximum that this waiting can make up.
//
// Units    as the metrics'; shares of wall_time.
// Sources  churn, half of its runs beside a load that came and went (a 2-core Xeon VM; docs/results.md). Of 435 pairs
//          of runs of one binary, 243 had a false verdict without these rules, and 2 with them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/measure/cases.hpp"
#include "core/measure/comparison.hpp"
#include "core/measure/machine_drift.hpp"

namespace memsweep::measure {

// The values of one metric, in the order of the repetitions.
struct UndisturbedValues {
    std::vector<double> base, candidate;
    std::size_t base_disturbed{}, candidate_disturbed{};  // values left out
};

// Takes all values if it is not known how long the case waited, or if the metric includes no waiting.
[[nodiscard]] UndisturbedValues undisturbed_values(const CasePair& pair, const model::Metric& base,
                                                   const model::Metric& candidate);

// True if a side has fewer values left than needed, and would have enough without what disturbed it.
[[nodiscard]] bool too_disturbed(const UndisturbedValues& values, std::size_t needed);

// Why a change that the numbers show may be the machine's. If no reason is given, it is the case's.
[[nodiscard]] Reason why_machine(const CasePair& pair, const MetricComparison& metric,
                                 const std::vector<MachineDrift>& drifts);

}  // namespace memsweep::measure
