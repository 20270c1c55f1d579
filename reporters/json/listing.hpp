// Short tables that commands print: as aligned text for people, as JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "core/model/scalar.hpp"

namespace memsweep::reporters {

struct Listing {
    std::vector<std::string> columns;
    std::vector<std::vector<model::Scalar>> rows;  // as many cells as columns; an empty text is null in JSON
};

[[nodiscard]] std::string listing_text(const Listing& listing);  // the last column is not padded
[[nodiscard]] std::string listing_json(const Listing& listing);  // an array of objects
[[nodiscard]] std::string object_json(const Listing& listing);   // the first row alone, as an object

}  // namespace memsweep::reporters
