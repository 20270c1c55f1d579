// Histories as text for a terminal, as terminal_writer.hpp says: what changed and since when, then the trends.
#pragma once

#include <string>

#include "reporters/history_report.hpp"
#include "reporters/terminal_writer.hpp"

namespace memsweep::reporters {

[[nodiscard]] std::string to_terminal(const HistoryReport& report, const TerminalStyle& style);

}  // namespace memsweep::reporters
