// What `report` says of several results: the histories they make, what changed its level and when, then every trend.
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
