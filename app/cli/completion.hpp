// Completions for shells: commands, options, the words that options take, files, and the catalog's scenarios.
//
// A shell's script passes the typed words to the program and shows the program's answer. So only the program decides
// which words can follow. A program with commands has a command `completion` that prints the script. A program without
// commands has an option --completion for this.
#pragma once

#include <optional>
#include <string>

#include "app/cli/command_line.hpp"

namespace memsweep::app {

// Returns the OptionValue of an argument that names a shell, such as "bash".
[[nodiscard]] OptionValue shell_name(std::string& target);

// Returns the script to be loaded into a shell. `shell`: a name that shell_name accepts.
[[nodiscard]] std::string completion_script(const Command& root, const std::string& shell);

// Returns the words that can complete the last argument. Each line holds a word, a tab and the word's meaning. A line
// "/" says that the argument can be a file. The scripts pass --complete as the first argument; if the first argument is
// not --complete, the result is nullopt.
[[nodiscard]] std::optional<std::string> completions(const Command& root, int argc, const char* const* argv);

}  // namespace memsweep::app
