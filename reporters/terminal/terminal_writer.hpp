// A document as text for a terminal.
//
// Errors   none: control characters in names are shown as U+FFFD, so that no name can steer the terminal.
#pragma once

#include <string>

#include "reporters/document/document.hpp"

namespace memsweep::reporters {

struct TerminalStyle {
    int width{80};   // no line is longer, down to a width of 40; names are elided in the middle, numbers never
    bool color{};    // ANSI colours, as meaning beside the words, never instead of them
    bool verbose{};  // every case in every table, warm-up facts, intervals and the machine in full
};

[[nodiscard]] std::string to_terminal(const Document& content, const TerminalStyle& style);

// Of anything that makes a document.
template <typename Report>
[[nodiscard]] std::string to_terminal(const Report& report, const TerminalStyle& style)
{
    return to_terminal(document(report, Audience{.medium = Medium::terminal, .verbose = style.verbose}), style);
}

}  // namespace memsweep::reporters
