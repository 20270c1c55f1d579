// Why a table of cases has no value in a place, in words.
#pragma once

#include <string>

#include "core/measure/cases.hpp"
#include "core/measure/contrasts.hpp"

namespace memsweep::reporters {

// "the faults do not differ"; empty where the contrast has its time per fault.
[[nodiscard]] std::string no_price_text(const measure::PlacementContrast& contrast);

// "no case for this pair"; of a cell without a value.
[[nodiscard]] std::string no_value_text(const measure::PlaceMatrix::Cell& cell);

}  // namespace memsweep::reporters
