// The command line: parsed by CLI11, whose exceptions, exit codes and messages stay in this file.
//
// Errors   a wrong command line prints one message with a suggestion on stderr; its exit code is 2.
#pragma once

#include <variant>

#include "app/exit_code.hpp"
#include "app/options.hpp"

namespace memsweep::app {

// The options, or the exit code of a command line that has already been answered (help, or a usage error).
[[nodiscard]] std::variant<Options, ExitCode> parse_command_line(int argc, const char* const* argv);

}  // namespace memsweep::app
