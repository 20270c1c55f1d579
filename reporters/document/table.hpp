// A table of figures, before anyone decides how it looks: what the terminal and the HTML writer share.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace memsweep::reporters {

enum class Tone { plain, good, caution, bad, muted };

struct Cell {
    std::string text{};
    std::string exact{};            // the value in full, when `text` rounds it
    std::optional<double> share{};  // of the largest like value in the table, 0..1: how long a bar would be
    Tone tone{Tone::plain};
};

struct Column {
    std::string title{};
    bool is_key{};     // names what a row is about; repeated when a table is split
    bool is_number{};  // aligned to the right, never shortened
    bool is_word{};    // one that has to be read in full: shortened only when it is unusually long
};

struct Table {
    std::string title{};
    std::string note{};  // what holds for the whole table
    std::vector<Column> columns{};
    std::vector<std::vector<Cell>> rows{};  // as many cells in each as there are columns; an empty text is "no value"
};

}  // namespace memsweep::reporters
