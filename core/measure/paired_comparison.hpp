// Compares two case families of one result that were measured in rounds, by the test of paired.hpp. The repetitions of
// both sides that have the same number are a round.
//
// It judges the metrics that say what a program costs: its times, its memory, its allocations. It only shows the
// others. Judging all would cost rounds, and a metric such as the context switches decides nothing by itself. A metric
// with a threshold of the user's is judged too.
//
// Errors   as compare_families().
#pragma once

#include "core/measure/comparison.hpp"

namespace memsweep::measure {

[[nodiscard]] base::Expected<Comparison> compare_rounds(const model::RunReport& report, const model::RatioOf& base,
                                                        const model::RatioOf& candidate, const Criteria& criteria);

// Whether further rounds are of no use: a metric regressed, or every judged metric is decided or hidden by its scatter.
// The wall time is given up sooner than others, unless it was asked for by name. That is if it scatters and shows no
// change, and the processor time is the same. Giving up says nothing, so it costs no certainty.
[[nodiscard]] bool is_settled(const Comparison& comparison);

}  // namespace memsweep::measure
