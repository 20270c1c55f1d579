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

#include <string>
#include <string_view>
#include <vector>

#include "core/model/report.hpp"
#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

void write_prom(const model::RunReport& report, TextSink& sink);
void write_openmetrics(const model::RunReport& report, TextSink& sink);  // with # UNIT, and # EOF at its end

// One metric of a result under the name of its series.
struct Family {
    std::string metric;
    model::Unit unit{};
    std::string name;  // "memsweep_wall_time_seconds"
};

// Every metric with a median of the cases that ended ok, in order of appearance; no name is used twice, nor one of
// `taken`.
[[nodiscard]] std::vector<Family> families(const model::RunReport& report, const std::vector<std::string>& taken);

// `scenario="churn",mode="refcount"` of each case, in their order, no two alike.
[[nodiscard]] std::vector<std::string> label_sets(const model::RunReport& report);

[[nodiscard]] std::string label(std::string_view name, std::string_view value);  // name="value", the value escaped

}  // namespace memsweep::reporters
