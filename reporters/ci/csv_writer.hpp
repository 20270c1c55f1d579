// A result as CSV, long and tidy: one observation per row.
//
// Units    the metric's, named in its row; numbers are the shortest text that reads back to the same double,
//          with `.` decimals in every locale; an absent value is an empty field.
// Sources  RFC 4180: CRLF, and quotes around a field that holds a comma, a quote or a line break.
// Memory   one row, besides what the sink holds.
// Errors   none: text that is not UTF-8 is repaired with U+FFFD.
//
// Fields are written exactly as they are: one that starts with = + - or @ is not altered, since every program but a
// spreadsheet would read the alteration as data. Import untrusted results into a spreadsheet as text.
#pragma once

#include "core/model/report.hpp"
#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

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

}  // namespace memsweep::reporters
