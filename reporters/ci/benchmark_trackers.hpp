// Results for trackers of benchmarks, and the names that those keep cases by.
//
// A tracker draws one chart per name and pairs two results by it, so that names must be plain and no two alike.
// Only cases that ended ok have one: a tracker would keep what is left of a broken case as a figure like any other.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model/report.hpp"
#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

struct NamedCase {
    const model::CaseReport* report{};
    std::string name;
};

// Printable ASCII without blanks, quotes or brackets; every other byte is written %XX, as in a URL.
[[nodiscard]] std::string ascii_name(std::string_view text);

// A name that is taken already gets a number behind it: #2, #3 and so on.
[[nodiscard]] std::vector<std::string> unique_names(std::vector<std::string> names,
                                                    std::string_view before_number = "#");

// The cases that ended ok, in their order, by their id.
[[nodiscard]] std::vector<NamedCase> named_cases(const model::RunReport& report);

// Google Benchmark's own JSON, for its compare.py and for the many tools that read it: one entry per repetition and no
// aggregates, which compare.py makes itself and trackers would draw as more times.
//
// Units    real_time is `wall_time` and cpu_time is `cpu_time`, in ns and rounded to 0.001 ns; every other metric of a
//          repetition is a counter under its own name, in its own unit.
// Sources  google/benchmark docs/user_guide.md, json_schema_version 1; read by its tools/compare.py 1.7.1.
// Errors   none: what has no time is not an entry but in context.memsweep_skipped, since every reader would take the 0
//          in its place for a time.
void write_gbench(const model::RunReport& report, TextSink& sink);

// For github-action-benchmark: medians as an array of {name, unit, value, range, extra}. The direction is not part of
// an entry but of the file: one is read by the tool customSmallerIsBetter, the other by customBiggerIsBetter.
//
// Units    the metric's; `range` is half the width of the median's 95 % interval, "± 0.0012", in the same.
// Sources  benchmark-action/github-action-benchmark, src/extract.ts and src/extractRangeInfo.ts: only this form of a
//          range is scaled together with its value.
void write_gha_smaller(const model::RunReport& report, TextSink& sink);  // metrics of which less is better
void write_gha_bigger(const model::RunReport& report, TextSink& sink);   // metrics of which more is better

// Whether the first of the two has everything.
[[nodiscard]] bool gha_fits_one_file(const model::RunReport& report);

// Bencher Metric Format: per case, per measure, the median between the bounds of its 95 % interval.
//
// Units    the metric's; the format has no place for them: they belong to the measure, as set up at Bencher.
// Sources  bencher.dev/docs/reference/bencher-metric-format. A measure is a slug ("wall-time"), a benchmark has a name
//          of at most 1,024 bytes: a longer one is cut.
void write_bmf(const model::RunReport& report, TextSink& sink);

}  // namespace memsweep::reporters
