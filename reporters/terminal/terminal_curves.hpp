// The working set over time as a curve of characters, one line per case. All lines of one chart have the same scales of
// time and height.
#pragma once

#include <string>

#include "core/model/report.hpp"
#include "reporters/document/case_keys.hpp"
#include "reporters/terminal/terminal_ink.hpp"

namespace memsweep::reporters {

// Returns a heading and the curves; empty if no memory was sampled.
[[nodiscard]] std::string curves_text(const Cases& cases, const TerminalStyle& style);

// Returns a curve as one line of block characters. A line of `columns` characters covers the time from 0 to `end`. Each
// character is as high as the highest sample in its stretch of time, relative to `top`. The value of a sample lasts
// until the next sample. Nothing is drawn before the first sample and after the last, so the line may be shorter than
// `columns`.
[[nodiscard]] std::string sparkline(const model::Series& series, double end, double top, int columns);

}  // namespace memsweep::reporters
