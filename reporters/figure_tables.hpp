// The tables of a probe: a row per thing measured with its figure, interval and share of the best; what was found out
// without a figure; and quantities between every two places.
//
// Units    medians over the samples, rounded to three digits; each cell carries its exact value too.
#pragma once

#include <vector>

#include "core/measure/place_matrix.hpp"
#include "reporters/case_keys.hpp"
#include "reporters/table.hpp"

namespace memsweep::reporters {

// Whether these are a probe's cases: they tell facts, and nothing of a working set.
[[nodiscard]] bool are_figures(const Cases& cases);

[[nodiscard]] Table figures_table(const Cases& cases);
[[nodiscard]] Table matrix_table(const measure::PlaceMatrix& matrix);

}  // namespace memsweep::reporters
