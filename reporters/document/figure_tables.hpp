// The tables of a probe: a row per thing measured with its figure, interval and share of the best; what was found out
// without a figure; and quantities between every two places.
//
// Units    medians over the samples, rounded to three digits; each cell carries its exact value too.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/measure/place_matrix.hpp"
#include "reporters/document/case_keys.hpp"
#include "reporters/document/table.hpp"

namespace memsweep::reporters {

// A metric of the case that has a summary; nullptr without one.
[[nodiscard]] const model::Metric* summarised(const model::CaseReport& report, std::string_view name);
// The status as a word, in the tone that suits it; its reason is the exact text.
[[nodiscard]] Cell status_cell(const model::CaseReport& report);
[[nodiscard]] std::string joined(const std::string& left, const std::string& right);  // "left; right"

// Whether these are a probe's cases: they tell facts, and nothing of a working set.
[[nodiscard]] bool are_figures(const Cases& cases);

[[nodiscard]] Table figures_table(const Cases& cases);
[[nodiscard]] Table matrix_table(const measure::PlaceMatrix& matrix);

}  // namespace memsweep::reporters
