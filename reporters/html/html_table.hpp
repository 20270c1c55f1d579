// A table as HTML: a caption, headers with their scope, inside a box that scrolls and can be reached by keyboard.
#pragma once

#include <string>

#include "reporters/document/table.hpp"

namespace memsweep::reporters {

struct TableLook {
    bool is_tall{};      // scrolls downwards too
    bool is_sortable{};  // the page's script lets its headers sort it
};

// `id` is unique in the page. A key that is the same over several rows becomes one cell over them.
[[nodiscard]] std::string table_html(const Table& table, const std::string& id, TableLook look = {});

// Empty for a plain tone, else the class that the style sheet colours: "bad".
[[nodiscard]] std::string_view tone_class(Tone tone);

}  // namespace memsweep::reporters
