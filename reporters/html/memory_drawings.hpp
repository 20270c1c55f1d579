// Memory drawn without a script: a bar of its kinds, and an address space in strips of cells.
//
// Cost     a page grows by some 150 bytes a cell.
#pragma once

#include <string>

#include "reporters/document/document.hpp"

namespace memsweep::reporters {

[[nodiscard]] std::string memory_bar_html(const MemoryBar& bar);
[[nodiscard]] std::string memory_strips_html(const MemoryStrips& strips);

}  // namespace memsweep::reporters
