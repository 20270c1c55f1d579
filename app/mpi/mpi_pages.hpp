// What a shell and a reader are told of memsweep-mpi, from the same tables as its --help.
#pragma once

#include <string>

#include "app/command_tree.hpp"

namespace memsweep::mpi {

[[nodiscard]] std::string completion_script(const app::CommandFacts& program, const std::string& shell);

// memsweep-mpi(1) in roff; `date` of its footer: 2026-01-31.
[[nodiscard]] std::string manual_page(const app::CommandFacts& program, const std::string& date);

}  // namespace memsweep::mpi
