// The working set over time, a line per case: those of one chart share time and height.
#pragma once

#include <string>

#include "core/model/report.hpp"
#include "reporters/document/case_keys.hpp"
#include "reporters/terminal/terminal_ink.hpp"

namespace memsweep::reporters {

// Heading and lines; empty when nothing was sampled.
[[nodiscard]] std::string curves_text(const Cases& cases, const TerminalStyle& style);

// A curve as one line of blocks: `columns` characters from time 0 to `end`, each as high as the highest sample in it,
// relative to `top`. Between two samples the last one holds; before the first and after the last there is nothing, so
// the line may be shorter.
[[nodiscard]] std::string sparkline(const model::Series& series, double end, double top, int columns);

}  // namespace memsweep::reporters
