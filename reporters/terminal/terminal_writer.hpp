// A document as text for a terminal.
//
// Errors   none: control characters in names become U+FFFD, so that no name can control the terminal.
#pragma once

#include <string>

#include "reporters/document/document.hpp"
#include "reporters/terminal/terminal_ink.hpp"

namespace memsweep::reporters {

[[nodiscard]] std::string to_terminal(const Document& content, const TerminalStyle& style);

// Takes any report that makes a document.
template <typename Report>
[[nodiscard]] std::string to_terminal(const Report& report, const TerminalStyle& style)
{
    return to_terminal(document(report), style);
}

}  // namespace memsweep::reporters
