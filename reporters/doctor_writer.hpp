// What `memsweep doctor` found: as text for a terminal, and as JSON (`format: memsweep-doctor`, version 1).
//
// Errors   none: text from outside is made inert in the terminal and repaired to UTF-8 in JSON.
#pragma once

#include <string>
#include <vector>

#include "core/model/machine_check.hpp"
#include "core/model/report.hpp"
#include "reporters/terminal_writer.hpp"

namespace memsweep::reporters {

struct Checkup {
    model::ToolInfo tool;
    model::Machine machine;
    std::string taken;  // UTC
    std::vector<model::MachineCheck> checks;
};

[[nodiscard]] std::size_t count(const Checkup& checkup, model::Fitness status);

// What spoils first, then the notes, then the names of what is well.
[[nodiscard]] std::string to_terminal(const Checkup& checkup, const TerminalStyle& style);
[[nodiscard]] std::string to_json(const Checkup& checkup);

}  // namespace memsweep::reporters
