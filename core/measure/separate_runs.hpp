// Decides whether the machine, and not the case, may be the reason why a time differs between two separate runs. A
// comparison within one run does not need these rules, because the repetitions of both sides alternate.
//
// Other work on the machine only adds to a time. Hence the rules:
//   - Repetitions that waited much longer for a processor than the best one are dropped. If a side then has too few
//     repetitions left, a change in a time that includes waiting is blamed on the case only if waiting cannot explain
//     the change.
//   - Waiting also cools the caches. If the slower side waited longer, half of the extra waiting may be in its
//     processor time too.
//   - The fastest tenth of the slower side's repetitions must show the change too. After correction for the machine's
//     drift, it must still be slower than the other side's median by more than the threshold.
//   - The time of one event (a latency or a pause) depends on how threads take turns. In a case with a finalizer thread
//     every time depends on the turns, by up to about 25 %. The shares of time that the two sides waited for a
//     processor are compared. If these shares differ by 2 % of the time or more, a change in a time that depends on the
//     turns is blamed on the machine. A change in a maximum is blamed on the machine if it is no larger than the
//     difference in waiting.
//
// Units    those of the metrics; shares of wall_time.
// Sources  runs of the scenario `churn`, half of them under an intermittent load (a 2-core Xeon VM; docs/results.md).
//          435 pairs of runs of one binary were compared: 243 verdicts were false without these rules, 2 with them.
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

// Returns the values without those of disturbed repetitions. Keeps all values if the waiting was not measured, or if
// the metric does not include waiting.
[[nodiscard]] UndisturbedValues undisturbed_values(const CasePair& pair, const model::Metric& base,
                                                   const model::Metric& candidate);

// Whether a side lost values and has fewer than `needed` values left.
[[nodiscard]] bool too_disturbed(const UndisturbedValues& values, std::size_t needed);

// Returns why a change that the numbers show may come from the machine. If the change comes from the case, returns an
// empty reason (Reason::is_given() is false).
[[nodiscard]] Reason why_machine(const CasePair& pair, const MetricComparison& metric,
                                 const std::vector<MachineDrift>& drifts);

}  // namespace memsweep::measure
