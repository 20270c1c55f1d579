// The working set over time, one line per case. The lines of one chart share the scales of time and height.
#pragma once

#include <string>

#include "core/model/report.hpp"
#include "reporters/document/case_keys.hpp"
#include "reporters/terminal/terminal_ink.hpp"

namespace memsweep::reporters {

// Heading and lines; empty when nothing was sampled.
[[nodiscard]] std::string curves_text(const Cases& cases, const TerminalStyle& style);

// A curve as one line of blocks: `columns` characters from time 0 to `end`. Each is as high as the highest sample in
// it, relative to `top`. A sample holds until the next one. Nothing is drawn before the first sample and after the
// last, so the line may be shorter than `columns`.
[[nodiscard]] std::string sparkline(const model::Series& series, double end, double top, int columns);

}  // namespace memsweep::reporters
