// A comparison as text: the verdict, what changed, then a table per pair of cases.
//
// Errors   none: names from results cannot steer the terminal, as in terminal_writer.hpp.
#pragma once

#include <string>

#include "reporters/comparison_report.hpp"
#include "reporters/terminal_writer.hpp"

namespace memsweep::reporters {

[[nodiscard]] std::string to_terminal(const ComparisonReport& report, const TerminalStyle& style);

}  // namespace memsweep::reporters
