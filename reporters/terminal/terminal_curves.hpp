// The working set over time as a curve of characters, one line per case. The curves of one chart have the same scales
// of time and height.
#pragma once

#include <string>

#include "core/model/report.hpp"
#include "reporters/document/case_keys.hpp"
#include "reporters/terminal/terminal_ink.hpp"

namespace memsweep::reporters {

// A heading and the curves; empty if nothing was sampled.
[[nodiscard]] std::string curves_text(const Cases& cases, const TerminalStyle& style);

// A curve as one line of block characters, `columns` of them from time 0 to `end`. A character is as high as the
// highest sample of its stretch of time, relative to `top`. A sample holds until the next one. Nothing is drawn before
// the first sample and after the last, so the line may be shorter than `columns`.
[[nodiscard]] std::string sparkline(const model::Series& series, double end, double top, int columns);

}  // namespace memsweep::reporters
