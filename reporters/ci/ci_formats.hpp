// What is written for other programs: spreadsheets, node health, NVIDIA's bandwidth tests.
// benchmark_trackers.hpp, prom_writer.hpp, junit.hpp and trace_writer.hpp have the others.
//
// Units    the metric's, unless a format says otherwise.
// Memory   one row, repetition or case, besides what the sink holds.
// Errors   none: text that is not UTF-8 is repaired with U+FFFD, and what has no value is left out.
#pragma once

#include "core/model/report.hpp"
#include "reporters/document/fleet.hpp"
#include "reporters/document/history.hpp"
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
// One row per repetition per metric, `params` as compact JSON. A case without any value has one row that shows its
// status.
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

// What a node-health script wants of one result: a line of JSON if its host is bad, nothing if it is well.
// {"host","healthy":false,"run_id","evidence":[{"kind":"case","case","status","text"}]}
// Sources  every case that failed, crashed or ran out of time, every failed limit and assertion of severity fail.
void write_health(const model::RunReport& report, TextSink& sink);

// The hosts that are not well, as NDJSON: {"host","healthy":false,"evidence":[...]}, a line per bad or missing host.
void write_health(const FleetReport& report, TextSink& sink);

// nvbandwidth's JSON (NVIDIA, `nvbandwidth --json`), so that what reads its files reads a probe's.
//
// Units    bandwidth in GB/s (1e9 bytes), latency in ns; cells of a matrix are texts of six significant digits, "N/A"
//          where there is none; sum, min, max and average are numbers over the cells that are there.
// Sources  its json_output.cpp. Cases that it has no name for get one of our own; where a case's status is no word of
//          its, it is Waived (skipped) or Error, with the reason in `error`.
void write_nvbandwidth(const model::RunReport& report, TextSink& sink);

}  // namespace memsweep::reporters
