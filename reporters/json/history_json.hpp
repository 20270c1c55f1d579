// Histories as JSON: `format: memsweep-history`, version 1, as docs/result-format.md describes it.
#pragma once

#include <string>

#include "reporters/document/history_report.hpp"

namespace memsweep::reporters {

// One document ending in a newline; the same results give the same bytes.
[[nodiscard]] std::string to_json(const HistoryReport& report);

}  // namespace memsweep::reporters
