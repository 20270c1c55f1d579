// The report of several results: their histories, the changes of level with their runs, then every trend.
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
