// A result as text for a terminal: what was found, in sentences, then the tables that show it.
//
// Units    sizes in IEC units, rates in SI, durations in the unit that suits them; every figure is a median over the
//          repetitions unless its heading says otherwise.
// Errors   none: control characters in names are shown as U+FFFD, so that no name can steer the terminal.
#pragma once

#include <string>

#include "core/model/report.hpp"

namespace memsweep::reporters {

struct TerminalStyle {
    int width{80};   // no line is longer, down to a width of 40; names are elided in the middle, numbers never
    bool color{};    // ANSI colours, as meaning beside the words, never instead of them
    bool verbose{};  // every case in every table, warm-up facts, intervals and the machine in full
};

[[nodiscard]] std::string to_terminal(const model::RunReport& report, const TerminalStyle& style);

}  // namespace memsweep::reporters
