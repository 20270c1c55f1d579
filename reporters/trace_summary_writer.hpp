// What a trace holds: as text for a terminal, and its totals as JSON.
//
// Errors   none: text from outside is made inert in the terminal.
#pragma once

#include <string>

#include "core/trace/summary.hpp"
#include "reporters/terminal_writer.hpp"

namespace memsweep::reporters {

[[nodiscard]] std::string to_terminal(const trace::TraceSummary& summary, const TerminalStyle& style);
[[nodiscard]] std::string to_json(const trace::TraceSummary& summary);

// In words what could not be read; empty when all was.
[[nodiscard]] std::string damage_text(const trace::Damage& damage);

}  // namespace memsweep::reporters
