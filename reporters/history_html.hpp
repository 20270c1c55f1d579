// Histories as one HTML file that needs nothing else, as html_writer.hpp says: what changed and since when, then each
// trend as a chart and as a table.
//
// Errors   none: every name is escaped, and text that is not UTF-8 is repaired with U+FFFD.
#pragma once

#include <string>

#include "reporters/history_report.hpp"

namespace memsweep::reporters {

[[nodiscard]] std::string to_html(const HistoryReport& report);

}  // namespace memsweep::reporters
