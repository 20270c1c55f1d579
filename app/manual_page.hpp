// memsweep(1) in roff's man macros, from the same tables as --help.
#pragma once

#include <string>

#include "app/command_tree.hpp"

namespace memsweep::app {

// `date` of the page's footer: 2026-01-31.
[[nodiscard]] std::string manual_page(const CommandFacts& tree, const std::string& version, const std::string& date);

}  // namespace memsweep::app
