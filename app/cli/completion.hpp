// Completions for shells: commands, options, the words that options take, files, and the catalog's scenarios.
//
// A shell's script passes the typed words on to the program and shows what it answers, so that what can follow is known
// in one place. A program with commands prints its script by the command `completion`, one without by the option
// --completion.
#pragma once

#include <optional>
#include <string>

#include "app/cli/command_line.hpp"

namespace memsweep::app {

// The value of an argument SHELL.
[[nodiscard]] OptionValue shell_name(std::string& target);

// `shell` is one that shell_name takes.
[[nodiscard]] std::string completion_script(const Command& root, const std::string& shell);

// What can stand in place of the last argument; the first argument is --complete, which the scripts pass. Each line
// holds a word, a tab and what the word means. A line "/" says that it can be a file. Empty: the arguments ask for
// something else.
[[nodiscard]] std::optional<std::string> completions(const Command& root, int argc, const char* const* argv);

}  // namespace memsweep::app
