// Completion scripts for shells: commands, options, the words that options take, files, and the catalog's scenarios,
// which the script asks memsweep for.
//
// A program with commands prints its script by the command `completion`, one without by the option --completion.
#pragma once

#include <string>

#include "app/cli/command_line.hpp"

namespace memsweep::app {

// The value of an argument SHELL.
[[nodiscard]] OptionValue shell_name(std::string& target);

// `shell` is one that shell_name takes.
[[nodiscard]] std::string completion_script(const Command& program, const std::string& shell);

}  // namespace memsweep::app
