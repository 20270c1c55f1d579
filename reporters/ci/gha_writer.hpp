// A result for github-action-benchmark: medians as an array of {name, unit, value, range, extra}.
//
// The direction is not part of an entry but of the file: one is read by the tool customSmallerIsBetter, the other by
// customBiggerIsBetter.
//
// Units    the metric's; `range` is half the width of the median's 95 % interval, "± 0.0012", in the same.
// Sources  benchmark-action/github-action-benchmark, src/extract.ts and src/extractRangeInfo.ts: only this form of a
//          range is scaled together with its value.
// Memory   one metric, besides what the sink holds.
#pragma once

#include "core/model/report.hpp"
#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

void write_gha_smaller(const model::RunReport& report, TextSink& sink);  // metrics of which less is better
void write_gha_bigger(const model::RunReport& report, TextSink& sink);   // metrics of which more is better

// Whether the first of the two has everything.
[[nodiscard]] bool gha_fits_one_file(const model::RunReport& report);

}  // namespace memsweep::reporters
