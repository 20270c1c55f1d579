// Histories as CSV, one row per run, case and metric; csv_writer.hpp says how fields and numbers look.
#pragma once

#include "reporters/document/history_report.hpp"
#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

// scenario,scenario_fingerprint,machine_fingerprint,run,run_id,started,version,case,metric,unit,better,n,median,ci_lo,
// ci_hi,change; `run` counts from 1, `change` is the verdict of a change that begins with this run.
void write_csv(const HistoryReport& report, TextSink& sink);

}  // namespace memsweep::reporters
