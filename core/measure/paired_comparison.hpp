// Compares the cases of two axis values that were measured in rounds within one result, by the test of paired.hpp.
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

// Whether further rounds are of no use. That is so if a metric regressed, or if every judged metric either has a
// verdict or scatters too much to get one (hides_changes()). For wall time, less scatter is enough (shows_none_yet()),
// provided that the processor time is `same` and the user did not name wall time. The verdict on wall time is then
// inconclusive, which cannot be wrong.
[[nodiscard]] bool is_settled(const Comparison& comparison);

}  // namespace memsweep::measure
