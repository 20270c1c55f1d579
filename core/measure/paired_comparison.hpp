// Compares two families of cases of one result that were measured in rounds, by the test of paired.hpp. Repetition n of
// the base and repetition n of the candidate are one round.
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
// The wall time, unless the user named it, counts as hidden as soon as it scatters without a change and the processor
// time is `same`. Its verdict is then inconclusive, so this causes no false verdict.
[[nodiscard]] bool is_settled(const Comparison& comparison);

}  // namespace memsweep::measure
