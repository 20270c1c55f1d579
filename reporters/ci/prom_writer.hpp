// A result for Prometheus and for what reads OpenMetrics: the median of every metric of every case that ended ok.
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
#pragma once

#include "core/model/report.hpp"
#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

void write_prom(const model::RunReport& report, TextSink& sink);
void write_openmetrics(const model::RunReport& report, TextSink& sink);  // with # UNIT, and # EOF at its end

}  // namespace memsweep::reporters
