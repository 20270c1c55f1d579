// Draws memory without a script: its kinds as a bar, and an address space as strips of cells.
//
// Cost     a page grows by some 150 bytes for each cell.
#pragma once

#include <string>

#include "reporters/document/document.hpp"

namespace memsweep::reporters {

[[nodiscard]] std::string memory_bar_html(const MemoryBar& bar);
[[nodiscard]] std::string memory_strips_html(const MemoryStrips& strips);

}  // namespace memsweep::reporters
