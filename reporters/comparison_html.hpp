// A comparison as one HTML file that needs nothing else: the verdict, what changed, then before and after side by side.
// As html_writer.hpp says, it reads well without scripts, in light and dark, on paper and on a narrow screen.
//
// Errors   none: every name is escaped, and text that is not UTF-8 is repaired with U+FFFD.
#pragma once

#include <string>

#include "reporters/comparison_report.hpp"

namespace memsweep::reporters {

[[nodiscard]] std::string to_html(const ComparisonReport& report);

}  // namespace memsweep::reporters
