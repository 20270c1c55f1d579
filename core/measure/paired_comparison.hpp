// Two case families of one result whose cases were measured in rounds, compared by the test of paired.hpp: the
// repetition of one number of both sides is a round.
//
// Judged are the metrics that say what a program costs: its times, its memory, its allocations. The others are shown:
// judging all would take rounds from those, and what a metric like the context switches does alone decides nothing. One
// that a threshold is given for is judged too.
//
// Errors   as compare_families().
#pragma once

#include "core/measure/comparison.hpp"

namespace memsweep::measure {

[[nodiscard]] base::Expected<Comparison> compare_rounds(const model::RunReport& report, const model::RatioOf& base,
                                                        const model::RatioOf& candidate, const Criteria& criteria);

// Whether further rounds are of no use: a metric regressed, or every metric judged is decided or hidden by its scatter.
// The wall time is given up sooner than others, unless it was asked for by name: where it scatters, shows no change,
// and the processor time is the same. Giving up says nothing, and so costs no certainty.
[[nodiscard]] bool is_settled(const Comparison& comparison);

}  // namespace memsweep::measure
