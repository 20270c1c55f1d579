// The lengths of the names that a command is given. A program that keeps longer names allocates more.
//
// Units    bytes.
// Sources  the command's words, the file system, which resolves those that are paths, and our environment.
#pragma once

#include <string>
#include <vector>

#include "core/model/command.hpp"
#include "core/model/report.hpp"

namespace memsweep::engine {

// `added`: texts that the program is given so that it is counted, beside its own words and variables.
[[nodiscard]] model::NameLengths name_lengths(const model::CommandSpec& command, const std::vector<std::string>& added);

}  // namespace memsweep::engine
