// Says in words why a cell in a table of cases has no value.
#pragma once

#include <string>

#include "core/measure/cases.hpp"
#include "core/measure/contrasts.hpp"

namespace memsweep::reporters {

// Says why the cell for the time per fault has no value: "the faults do not differ". Empty if it has a value.
[[nodiscard]] std::string no_price_text(const measure::PlacementContrast& contrast);

// Says why a cell of a matrix has no value: "no case for this pair", the case's reason, or "no value was measured".
[[nodiscard]] std::string no_value_text(const measure::PlaceMatrix::Cell& cell);

}  // namespace memsweep::reporters
