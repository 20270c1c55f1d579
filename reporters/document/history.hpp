// The report of several results: their histories, then the changes of level, then every trend. A change of level is a
// lasting change of a metric. The report names the run with which the change begins.
#pragma once

#include "core/measure/history.hpp"
#include "core/model/machine.hpp"
#include "reporters/document/document.hpp"

namespace memsweep::reporters {

struct HistoryReport {
    model::ToolInfo tool;
    measure::Histories histories;
};

[[nodiscard]] Document document(const HistoryReport& report);

}  // namespace memsweep::reporters
