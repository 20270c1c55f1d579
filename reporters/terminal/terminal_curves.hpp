// The working set over time, a line per case: those of one chart share time and height.
#pragma once

#include <string>

#include "reporters/document/case_keys.hpp"
#include "reporters/terminal/terminal_writer.hpp"

namespace memsweep::reporters {

// Heading and lines; empty when nothing was sampled.
[[nodiscard]] std::string curves_text(const Cases& cases, const TerminalStyle& style);

}  // namespace memsweep::reporters
