// Completions for shells: commands, options, the words that options take, files, and the catalog's scenarios.
//
// A shell's script passes the typed words on to the program and shows its answer, so that only the program decides what
// can follow. The command `completion` prints the script of a program with commands, the option --completion that of a
// program without.
#pragma once

#include <optional>
#include <string>

#include "app/cli/command_line.hpp"

namespace memsweep::app {

// The value of an argument SHELL.
[[nodiscard]] OptionValue shell_name(std::string& target);

// `shell` is one that shell_name takes.
[[nodiscard]] std::string completion_script(const Command& root, const std::string& shell);

// The possible words in place of the last argument. The first argument is --complete, which the scripts pass. Each line
// holds a word, a tab and the word's meaning. A line "/" says that it can be a file. Empty: the arguments ask for
// something else.
[[nodiscard]] std::optional<std::string> completions(const Command& root, int argc, const char* const* argv);

}  // namespace memsweep::app
