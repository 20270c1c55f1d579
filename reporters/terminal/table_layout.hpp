// Where a table's columns go on lines of a given width.
#pragma once

#include <string_view>
#include <vector>

#include "reporters/document/table.hpp"

namespace memsweep::reporters {

inline constexpr int column_gap = 2;

struct TableLayout {
    std::vector<int> widths;                       // of every column
    std::vector<std::vector<std::size_t>> blocks;  // columns side by side, one list per part of the table
    std::string_view title_breaks;                 // characters behind which titles may be broken
};

// Expects cells and titles that inert_text() made.
[[nodiscard]] TableLayout lay_out(const Table& table, int width);

}  // namespace memsweep::reporters
