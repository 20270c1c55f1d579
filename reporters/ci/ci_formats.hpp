// What is written for other programs: spreadsheets, trackers of benchmarks, Prometheus, CI servers, trace viewers, node
// health, NVIDIA's bandwidth tests.
//
// Units    the metric's, unless a format says otherwise.
// Memory   one row, repetition or case, besides what the sink holds.
// Errors   none: text that is not UTF-8 is repaired with U+FFFD, and what has no value is left out.
#pragma once

#include "core/model/report.hpp"
#include "reporters/document/comparison.hpp"
#include "reporters/document/fleet.hpp"
#include "reporters/document/history.hpp"
#include "reporters/document/leaks.hpp"
#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

// CSV, long and tidy: one observation per row.
//
// Units    the metric's, named in its row; numbers are the shortest text that reads back to the same double,
//          with `.` decimals in every locale; an absent value is an empty field.
// Sources  RFC 4180: CRLF, and quotes around a field that holds a comma, a quote or a line break.
//
// Fields are written exactly as they are: one that starts with = + - or @ is not altered, since every program but a
// spreadsheet would read the alteration as data. Import untrusted results into a spreadsheet as text.

// run_id,started,host,scenario,case,params,metric,unit,better,repetition,value,status
// One row per repetition and metric; `params` is "count=100/mode=refcount". A case without any value has one row that
// shows its status.
void write_csv(const model::RunReport& report, TextSink& sink);

// run_id,started,host,scenario,case,params,metric,unit,better,n,min,median,mad,ci_lo,ci_hi,mdape,outliers,status
void write_csv_summary(const model::RunReport& report, TextSink& sink);

// run_id,case,repetition,series,t,value
void write_csv_series(const model::RunReport& report, TextSink& sink);

// matrix,row,col,value,unit
// One row per pair of places; an empty value where the pair was not measured.
void write_csv_matrix(const model::RunReport& report, TextSink& sink);

// scenario,scenario_fingerprint,machine_fingerprint,run,run_id,started,version,case,metric,unit,better,n,median,ci_lo,
// ci_hi,change; `run` counts from 1, `change` is the verdict of a change that begins with this run.
void write_csv(const HistoryReport& report, TextSink& sink);

// host,scenario,case,metric,unit,better,n,median,mad,z,q,verdict: a row per host and quantity.
void write_csv(const FleetReport& report, TextSink& sink);

// One result for a node-health script: a line of JSON if its host is bad, nothing if it is well.
// {"host","healthy":false,"run_id","evidence":[{"kind":"case","case","status","text"}]}
// Sources  every case that failed, crashed or ran out of time, every failed limit and assertion of severity fail.
void write_health(const model::RunReport& report, TextSink& sink);

// The hosts that are not well, as NDJSON: {"host","healthy":false,"evidence":[...]}, a line per bad or missing host.
void write_health(const FleetReport& report, TextSink& sink);

// Google Benchmark's own JSON, for its compare.py and for the many tools that read it: one entry per repetition and no
// aggregates, which compare.py makes itself and trackers would draw as more times.
//
// Units    real_time is `wall_time` and cpu_time is `cpu_time`, in ns and rounded to 0.001 ns; every other metric of a
//          repetition is a counter under its own name, in its own unit.
// Sources  google/benchmark docs/user_guide.md, json_schema_version 1; read by its tools/compare.py 1.7.1.
// Errors   none: what has no time is not an entry but in context.memsweep_skipped, since every reader would take the 0
//          in its place for a time.
void write_gbench(const model::RunReport& report, TextSink& sink);

// What `hyperfine --export-json` writes, for the scripts that read it: {"results": [{"command", "mean", "stddev",
// "median", "user", "system", "min", "max", "times", "parameters"}]}; a case without a time is left out.
//
// Units    seconds.
// Sources  sharkdp/hyperfine 1.18, README and scripts/. Its "exit_codes" are not there: a repetition that fails has no
//          time.
void write_hyperfine(const model::RunReport& report, TextSink& sink);

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

// For Prometheus and for readers of OpenMetrics: the median of every metric of every case that ended ok.
//
// Units    base units, as the end of a name says: _bytes, _seconds, _bytes_per_second, _operations_per_second.
// Sources  Prometheus text format 0.0.4, as node_exporter's textfile collector and `promtool check metrics` want it;
//          OpenMetrics 1.0.
// Memory   one line and the labels of all cases, besides what the sink holds.
// Errors   none: names become [a-z0-9_], and no two series get the same labels.
//
// Labels are the scenario and the values of the axes; never the run, which would make new series with every run. Every
// series carries the scenario, so that files of several scenarios can lie in one textfile directory. There are no
// timestamps: the collector refuses them.
void write_prom(const model::RunReport& report, TextSink& sink);
void write_openmetrics(const model::RunReport& report, TextSink& sink);  // with # UNIT, and # EOF at its end

// Results seen as tests that passed or not, as JUnit XML, in order of the cases, then of the assertions. A run without
// any case has the suite of its scenario, empty. A case that no assertion speaks of is a test that it runs; a result of
// `run --against` has the tests of its comparison.
void write_junit(const model::RunReport& report, TextSink& sink);
// A test per judged metric; it fails on what gates.
void write_junit(const ComparisonReport& report, TextSink& sink);
// One test for the program, which fails if it leaks, and one for each site that leaks.
void write_junit(const LeaksReport& report, TextSink& sink);

// The verdict as a badge, for a README or the page of a pull request: SVG, 20 pixels high, in a font that the reader
// has.
void write_badge(const model::RunReport& report, TextSink& sink);
void write_badge(const ComparisonReport& report, TextSink& sink);  // the worst of its comparisons

// Chrome trace events, for Perfetto and chrome://tracing.
//
// A case is a process; its repetitions follow each other with a gap, whatever the times at which they ran, so that the
// same case's phases (X), curves (C) and named points (i) share one axis. Phases that overlap lie on tracks of their
// own.
//
// Units    `ts` and `dur` in microseconds, counters in the unit of their quantity.
// Sources  "Trace Event Format", the four kinds of event that Perfetto imports without a loss: M, X, C and i.
// Memory   the phases of one case, besides what the sink holds.
// Errors   none: what has no finite time or value is left out.
void write_trace(const model::RunReport& report, TextSink& sink);

}  // namespace memsweep::reporters
