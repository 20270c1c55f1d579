// Completion scripts for shells: commands, options, the words that options take, files, and the catalog's scenarios,
// which the script asks memsweep for.
//
// A program with commands prints its script by the command `completion`, one without by the option --completion.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "app/cli/command_line.hpp"

namespace memsweep::app {

inline constexpr std::array<const char*, 3> completion_shells{"bash", "zsh", "fish"};

// `shell` is one of completion_shells.
[[nodiscard]] std::string completion_script(const Command& tree, std::string_view shell);

// "_memsweep_mpi": the function that completes a program of this name.
[[nodiscard]] std::string completion_function(const Command& tree);
// "memsweep completion bash": what prints its script.
[[nodiscard]] std::string completion_source(const Command& tree, std::string_view shell);

[[nodiscard]] std::string bash_completion(const Command& tree);
[[nodiscard]] std::string zsh_completion(const Command& tree);
[[nodiscard]] std::string fish_completion(const Command& tree);

}  // namespace memsweep::app
