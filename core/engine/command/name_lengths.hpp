// The lengths of the names that a program gets: paths among its command-line words, and environment variables. A
// program that stores longer names allocates more.
//
// Units    bytes.
// Sources  the command's words and its own variables; the file system, which resolves words that are paths; our
//          environment and working folder.
#pragma once

#include <string>
#include <vector>

#include "core/model/command.hpp"
#include "core/model/report.hpp"

namespace memsweep::engine {

// Returns the lengths. `added`: text that counting adds to the program's environment, such as the
// recorder's path.
[[nodiscard]] model::NameLengths name_lengths(const model::CommandSpec& command, const std::vector<std::string>& added);

}  // namespace memsweep::engine
