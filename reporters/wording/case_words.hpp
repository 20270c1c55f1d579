// Words for a table of cases that say why a cell has no value.
#pragma once

#include <string>

#include "core/measure/cases.hpp"
#include "core/measure/contrasts.hpp"

namespace memsweep::reporters {

// "the faults do not differ"; empty if the contrast does have a time per fault, so that there is nothing to explain.
[[nodiscard]] std::string no_price_text(const measure::PlacementContrast& contrast);

// Why a cell has no value: "no case for this pair".
[[nodiscard]] std::string no_value_text(const measure::PlaceMatrix::Cell& cell);

}  // namespace memsweep::reporters
