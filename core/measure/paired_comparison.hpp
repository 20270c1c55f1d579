// Compares the cases of two axis values within one result that were measured in rounds. The test is that of paired.hpp.
// Repetition n of the base and repetition n of the candidate are one round.
//
// Only metrics that say what a program costs are judged: its times, its memory, its allocations. Other metrics are only
// shown. Judging every metric would take more rounds, and a metric such as context switches decides nothing by itself.
// A metric for which the user gave a threshold is judged too.
//
// Errors   those of compare_families().
#pragma once

#include "core/measure/comparison.hpp"

namespace memsweep::measure {

[[nodiscard]] base::Expected<Comparison> compare_rounds(const model::RunReport& report, const model::RatioOf& base,
                                                        const model::RatioOf& candidate, const Criteria& criteria);

// Whether further rounds are of no use: a metric regressed, or every judged metric is decided or hidden by its scatter.
// Wall time already counts as hidden if it scatters without a change and the processor time is `same`. This rule does
// not apply if the user named wall time. It causes no false verdict, because the verdict on wall time is then
// inconclusive.
[[nodiscard]] bool is_settled(const Comparison& comparison);

}  // namespace memsweep::measure
