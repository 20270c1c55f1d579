// Short tables that commands print: as aligned text for people, as JSON for programs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model/scalar.hpp"

namespace memsweep::reporters {

struct Listing {
    std::vector<std::string> columns;
    std::vector<std::vector<model::Scalar>> rows;  // as many cells as columns; an empty text is null in JSON
};

// Writes the listing as lines of text. The columns' names come first. A text that does not fit is wrapped within its
// column if the line has room. Cells of columns for which the line has no room are written below their row, in the
// order of the columns. No line is wider than `columns`, except for a single long word.
[[nodiscard]] std::string listing_text(const Listing& listing, int columns);
// Returns a JSON document whose member "format" is `format`, version 1. Its member "rows" has one object per row.
[[nodiscard]] std::string listing_json(const Listing& listing, std::string_view format);
// Returns the first row alone, as an object whose member "format" is `format`, version 1.
[[nodiscard]] std::string object_json(const Listing& listing, std::string_view format);

}  // namespace memsweep::reporters
