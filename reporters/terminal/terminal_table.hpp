// A table as lines of text that fit a width.
//
// Names are elided in the middle, numbers never: where the columns do not fit side by side the table continues below,
// with its key columns repeated. A key that is the same as in the row above is left blank.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reporters/document/table.hpp"
#include "reporters/terminal/terminal_ink.hpp"

namespace memsweep::reporters {

// Heading, note and rows; every line ends in a newline.
[[nodiscard]] std::string table_text(const Table& table, const TerminalStyle& style);

inline constexpr int column_gap = 2;

// Where a table's columns go on lines of a given width.
struct TableLayout {
    std::vector<int> widths;                       // of every column
    std::vector<std::vector<std::size_t>> blocks;  // columns side by side, one list per part of the table
    std::string_view title_breaks;                 // characters behind which titles may be broken
};

// Expects cells and titles that inert_text() made.
[[nodiscard]] TableLayout lay_out(const Table& table, int width);

}  // namespace memsweep::reporters
