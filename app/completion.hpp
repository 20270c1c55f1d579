// Completion scripts for shells: commands, options, the words that options take, files, and the catalog's scenarios,
// which the script asks memsweep for.
#pragma once

#include <string>

#include "app/command_tree.hpp"

namespace memsweep::app {

[[nodiscard]] std::string bash_completion(const CommandFacts& tree);
[[nodiscard]] std::string zsh_completion(const CommandFacts& tree);
[[nodiscard]] std::string fish_completion(const CommandFacts& tree);

}  // namespace memsweep::app
