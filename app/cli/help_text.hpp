// What --help prints.
#pragma once

#include <string>

#include "app/cli/command_line.hpp"

namespace memsweep::app {

// Of `command`, which is `program` itself or one of its commands. No line is wider than `columns`, unless one word is.
[[nodiscard]] std::string help_text(const Command& command, const Command& program, int columns);

}  // namespace memsweep::app
