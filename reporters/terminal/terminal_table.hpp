// A table as lines of text that fit a width.
//
// Long names are shortened in the middle, numbers never. If the columns do not fit side by side, the table continues
// below with its key columns repeated. A key that is the same as in the row above is left blank. If a key is the same
// in all rows and would be shortened, it is written in full above the rows instead.
#pragma once

#include <string>

#include "reporters/document/table.hpp"
#include "reporters/terminal/terminal_ink.hpp"

namespace memsweep::reporters {

// Writes heading, note and rows; every line ends in a newline.
[[nodiscard]] std::string table_text(const Table& table, const TerminalStyle& style);

}  // namespace memsweep::reporters
