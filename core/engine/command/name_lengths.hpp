// The lengths of the command-line words and of the environment variables that a program gets. A program that stores
// longer names allocates more.
//
// Units    bytes.
// Sources  the command's words; the file system, which resolves words that are paths; our environment.
#pragma once

#include <string>
#include <vector>

#include "core/model/command.hpp"
#include "core/model/report.hpp"

namespace memsweep::engine {

// Returns the lengths. `added`: further texts that the program gets only because its allocations are counted.
[[nodiscard]] model::NameLengths name_lengths(const model::CommandSpec& command, const std::vector<std::string>& added);

}  // namespace memsweep::engine
