// A result as one HTML file that needs nothing else: no network, no script, no font. It reads well where scripts are
// forbidden (CI artifact viewers), in light and dark, on paper and on a narrow screen.
//
// Units    as in the terminal report; exact values are in each cell's title where a figure was rounded.
// Errors   none: every name is escaped, and text that is not UTF-8 is repaired with U+FFFD.
#pragma once

#include <string>

#include "core/model/report.hpp"

namespace memsweep::reporters {

// Series are thinned to at most 200 rows each, keeping the minimum and maximum of every stretch.
[[nodiscard]] std::string to_html(const model::RunReport& report);

}  // namespace memsweep::reporters
