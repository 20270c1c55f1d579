// A result as one HTML file that needs nothing else: no network, no font. Its own scripts draw the charts and sort the
// tables; it reads well where scripts are forbidden (CI artifact viewers), in light and dark, on paper and on a narrow
// screen.
//
// Units    as in the terminal report; exact values are in each cell's title where a figure was rounded.
// Errors   none: every name is escaped, and text that is not UTF-8 is repaired with U+FFFD.
#pragma once

#include <string>

#include "core/model/report.hpp"

namespace memsweep::reporters {

// Curves are thinned as curve_chart.hpp says.
[[nodiscard]] std::string to_html(const model::RunReport& report);

}  // namespace memsweep::reporters
