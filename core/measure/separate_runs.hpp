// What the machine may have done to a time between two runs, which ran one after the other: it was not the same under
// both. Within one run the repetitions of both sides alternate, and none of this applies.
//
// Other work only adds to a time. So
//   - Repetitions count only if the case waited for a processor hardly longer than in its best one. If too few of a
//     side do, a change in a time that includes such waiting is the case's only where the waiting is far too little to
//     explain it.
//   - Half of what the slower side waited longer may be in its processor time, spent on filling caches anew.
//   - A change shows in the fastest tenth of the slower side's repetitions too: it is slower than the other side's
//     median by more than is allowed, also on a machine that was as fast.
//   - The time of one event (a latency or a pause) follows how threads take turns, and so does, by up to some 25 %,
//     every time of a case with a finalizer thread. No change in it is the case's if the shares of their time that both
//     sides waited for a processor differ by 2 %, and none in a maximum that this waiting can make up.
//
// Units    as the metrics'; shares of wall_time.
// Sources  churn, half of its runs beside a load that came and went: of 435 pairs of runs of one binary 243 had a false
//          verdict without these, two with them (a 2-core Xeon VM; docs/measurement.md).
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

// All values where it is not known how long the case waited, and of a metric that includes no waiting.
[[nodiscard]] UndisturbedValues undisturbed_values(const CasePair& pair, const model::Metric& base,
                                                   const model::Metric& candidate);

// True if a side has fewer values left than needed, and would have enough without what disturbed it.
[[nodiscard]] bool too_disturbed(const UndisturbedValues& values, std::size_t needed);

// Why a change that the numbers show may be the machine's; not given: it is the case's.
[[nodiscard]] Reason why_machine(const CasePair& pair, const MetricComparison& metric,
                                 const std::vector<MachineDrift>& drifts);

}  // namespace memsweep::measure
