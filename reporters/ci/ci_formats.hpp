// Formats for other programs: spreadsheets, benchmark trackers, Prometheus, CI servers, trace viewers, scripts that
// check a node's health, readers of results of NVIDIA's bandwidth tests.
//
// Units    each value has the unit of its metric, unless a format says otherwise.
// Memory   the text of one row, one repetition or one case, besides what the sink holds. write_hyperfine() holds its
//          whole text, and write_junit() all tests.
// Errors   none: text that is not UTF-8 is repaired with U+FFFD. An absent value is left out; in CSV its field is
//          empty.
#pragma once

#include "core/model/report.hpp"
#include "reporters/document/compared_run.hpp"
#include "reporters/document/comparison.hpp"
#include "reporters/document/fleet.hpp"
#include "reporters/document/history.hpp"
#include "reporters/document/leaks.hpp"
#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

// CSV, long and tidy: one observation per row. The first line of each comment below names the columns. write_csv() of a
// run and write_csv_summary() append one column per axis: "axis.count".
//
// Units    each value has the unit that its row names. A number is the shortest text that reads back to the same
//          double, with `.` as the decimal point in every locale. An absent value is an empty field.
// Sources  RFC 4180: CRLF, and quotes around a field that holds a comma, a quote or a line break.
//
// csv_text() (text/escaping.hpp) changes text fields that a spreadsheet would take for a formula.

// run_id,started,host,scenario,case,params,metric,unit,better,repetition,value,status
// Writes one row per repetition and metric; `params` is "count=100/mode=refcount". A case without any value has one row
// that shows its status.
void write_csv(const model::RunReport& report, TextSink& sink);

// run_id,started,host,scenario,case,params,metric,unit,better,n,min,median,mad,ci_lo,ci_hi,mdape,outliers,status
void write_csv_summary(const model::RunReport& report, TextSink& sink);

// run_id,case,repetition,series,t,value
void write_csv_series(const model::RunReport& report, TextSink& sink);

// matrix,row,col,value,unit
// Writes one row per matrix and pair of NUMA nodes. The value is empty if the pair was not measured.
void write_csv_matrix(const model::RunReport& report, TextSink& sink);

// scenario,scenario_fingerprint,machine_fingerprint,run,run_id,started,version,case,metric,unit,better,n,median,ci_lo,
// ci_hi,change
// `run` counts from 1. `change` is the verdict on the change that begins with this run; empty: no change begins here.
void write_csv(const HistoryReport& report, TextSink& sink);

// host,scenario,case,metric,unit,better,n,median,mad,z,q,verdict
// Writes one row per host and quantity.
void write_csv(const FleetReport& report, TextSink& sink);

// Writes one result for a script that checks a node's health: a line of JSON if the host is bad, and nothing if it is
// healthy.
// {"host","healthy":false,"run_id","evidence":[{"kind":"case","case","status","text"}]}
// Sources  every case that failed, crashed or ran out of time; every failed limit and assertion of severity fail,
//          unless its case is already named; an interrupted run.
void write_health(const model::RunReport& report, TextSink& sink);

// Writes the unhealthy hosts of a fleet as NDJSON: a line {"host","healthy":false,"evidence":[...]} per bad or missing
// host.
void write_health(const FleetReport& report, TextSink& sink);

// Writes the JSON format of Google Benchmark, for its compare.py and for the many tools that read this format. There is
// one entry per repetition. Aggregates such as medians are left out: compare.py computes them itself, and trackers
// would draw them as further repetitions.
//
// Units    real_time is `wall_time` and cpu_time is `cpu_time`, in ns, rounded to 0.001 ns. Every other metric of a
//          repetition is a counter in its own unit, under its own name. Only `bandwidth` becomes bytes_per_second, and
//          a name that the format uses itself gets memsweep_ in front.
// Sources  google/benchmark docs/user_guide.md, json_schema_version 1; read by its tools/compare.py 1.7.1.
// Errors   none. A case that did not end ok, or that has no time, has no entry, because readers would take a missing
//          time for 0. Such cases are listed in context.memsweep_skipped.
void write_gbench(const model::RunReport& report, TextSink& sink);

// Writes the JSON of `hyperfine --export-json`, for the scripts that read this format: {"results": [{"command", "mean",
// "stddev", "median", "user", "system", "min", "max", "times", "parameters"}]}. A case without a time is left out.
//
// Units    seconds.
// Sources  sharkdp/hyperfine 1.18, README and scripts/. Its "exit_codes" are left out, because a repetition that fails
//          has no time.
void write_hyperfine(const model::RunReport& report, TextSink& sink);

// Write medians for github-action-benchmark, as an array of {name, unit, value, range, extra}. An entry cannot say
// whether less or more is better, so there are two files. github-action-benchmark reads one of them as
// "customSmallerIsBetter", the other as "customBiggerIsBetter".
//
// Units    the metric's. `range` is half the width of the median's 95 % interval, in the unit of the value, as in
//          "± 0.0012". The tool scales a range together with its value only if the range has this form.
// Sources  benchmark-action/github-action-benchmark, src/extract.ts and src/extractRangeInfo.ts.
void write_gha_smaller(const model::RunReport& report, TextSink& sink);  // metrics of which less is better
void write_gha_bigger(const model::RunReport& report, TextSink& sink);   // metrics of which more is better

// Returns true if there is no metric of which more is better. write_gha_bigger() would then write an empty array.
[[nodiscard]] bool gha_fits_one_file(const model::RunReport& report);

// Writes the Bencher Metric Format: for each case and measure, the median and the two bounds of its 95 % interval.
//
// Units    the metric's. The format cannot state units; at Bencher, the user sets the unit of each measure.
// Sources  bencher.dev/docs/reference/bencher-metric-format. A measure is a slug ("wall-time"). A benchmark's name has
//          at most 1,024 bytes; a longer one loses its end.
void write_bmf(const model::RunReport& report, TextSink& sink);

// Write, for Prometheus and for readers of OpenMetrics, the median of every metric of every case that ended ok, and a
// few values about the run.
//
// Units    base units. The name of a metric ends in its unit: _bytes, _seconds, _bytes_per_second,
//          _operations_per_second.
// Sources  Prometheus text format 0.0.4, as node_exporter's textfile collector reads it and `promtool check metrics`
//          accepts it; OpenMetrics 1.0.
// Memory   one line and the labels of all cases, besides what the sink holds.
// Errors   none: names become [a-z0-9_], and no two series get the same labels.
//
// Labels are the scenario and the values of the axes. The run is no label, because every run would then make new
// series. Every series carries the scenario, so that files of several scenarios can lie in one textfile directory.
// There are no timestamps, because the collector refuses them.
void write_prom(const model::RunReport& report, TextSink& sink);
void write_openmetrics(const model::RunReport& report, TextSink& sink);  // with # UNIT, and # EOF at its end

// Writes a result as JUnit XML: tests that passed, failed or were skipped. For each scenario, the tests of its cases
// come first, then those of its assertions. A case without assertions is one test, which passes if the case ran. A case
// that did not end ok is a test too, unless it failed because of an assertion. A run without cases is an empty suite
// with its scenario's name. A result of `run --against` has the tests of its comparison.
void write_junit(const model::RunReport& report, TextSink& sink);
// Writes one test per metric that is not informational. The test fails if the metric's verdict makes the comparison
// fail, and is skipped if the metric could not be judged.
void write_junit(const ComparisonReport& report, TextSink& sink);
void write_junit(const ComparedRun& report, TextSink& sink);  // the tests of the run, then those of its comparison
// Writes one test for the program, which fails if the program leaks, and one test for each site that leaks.
void write_junit(const LeaksReport& report, TextSink& sink);

// Writes the verdict as a badge for a README or a pull request: SVG, 20 pixels high, in a font that the viewer
// provides.
void write_badge(const model::RunReport& report, TextSink& sink);
void write_badge(const ComparisonReport& report, TextSink& sink);  // the worst verdict of its comparisons
void write_badge(const ComparedRun& report, TextSink& sink);  // the run's verdict if it failed, else the comparison's

// Writes Chrome trace events, for Perfetto and chrome://tracing.
//
// A case is shown as a process. Its repetitions are not shown at the times when they ran. Instead, they follow each
// other on one time axis, with a gap between them. Phases (X), curves (C) and named points (i) of a case are on this
// axis. Phases that overlap without being nested are on separate tracks.
//
// Units    `ts` and `dur` in microseconds, counters in the unit of their quantity.
// Sources  "Trace Event Format", the four kinds of event that Perfetto imports without a loss: M, X, C and i.
// Memory   the phases of one case, besides what the sink holds.
// Errors   none: an event is left out if its value is not finite, or if its time is not finite, negative or beyond one
//          day.
void write_trace(const model::RunReport& report, TextSink& sink);

}  // namespace memsweep::reporters
