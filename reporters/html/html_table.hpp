// A table as HTML. It has a caption and scoped headers, and is in a box that scrolls and can be reached by keyboard.
#pragma once

#include <string>

#include "reporters/document/table.hpp"

namespace memsweep::reporters {

struct TableLook {
    bool is_tall{};      // scrolls vertically too
    bool is_sortable{};  // clicking a header sorts the table, by the page's script
};

// `id` must be unique in the page. If consecutive rows agree in a key column and in all columns before it, their cells
// in this column become one cell. Cells of the last key column are never merged.
[[nodiscard]] std::string table_html(const Table& table, const std::string& id, TableLook look = {});

// Returns the CSS class of the tone, such as "bad"; empty for a plain tone.
[[nodiscard]] std::string_view tone_class(Tone tone);

}  // namespace memsweep::reporters
