// How long the names are that a command is given: a program that keeps them allocates more where they are longer.
//
// Units    bytes.
// Sources  the command's words, the file system that resolves those which are paths, our environment.
#pragma once

#include <string>
#include <vector>

#include "core/model/command.hpp"
#include "core/model/report.hpp"

namespace memsweep::engine {

// `added`: what it is given beside its own words and variables, to be counted.
[[nodiscard]] model::NameLengths name_lengths(const model::CommandSpec& command, const std::vector<std::string>& added);

}  // namespace memsweep::engine
