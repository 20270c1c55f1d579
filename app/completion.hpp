// Completion scripts for shells: commands, options, the words that options take, files, and the catalog's scenarios,
// which the script asks memsweep for. A program without commands says by --completion what one with commands says by a
// command.
#pragma once

#include <string>
#include <string_view>

#include "app/command_tree.hpp"

namespace memsweep::app {

// "_memsweep_mpi": the function that completes a program of this name.
[[nodiscard]] std::string completion_function(const CommandFacts& tree);
// "memsweep completion bash": what prints its script.
[[nodiscard]] std::string completion_source(const CommandFacts& tree, std::string_view shell);

[[nodiscard]] std::string bash_completion(const CommandFacts& tree);
[[nodiscard]] std::string zsh_completion(const CommandFacts& tree);
[[nodiscard]] std::string fish_completion(const CommandFacts& tree);

}  // namespace memsweep::app
