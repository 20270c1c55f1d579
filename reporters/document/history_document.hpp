// What the histories of several results say: what changed its level and when, then every trend.
#pragma once

#include "reporters/document/document.hpp"
#include "reporters/document/history_report.hpp"

namespace memsweep::reporters {

[[nodiscard]] Document document(const HistoryReport& report, const Audience& audience);

}  // namespace memsweep::reporters
