// Findings as JSON, for other programs: the sentence that all reports show, and the values in this sentence.
#pragma once

#include "core/measure/findings.hpp"
#include "reporters/text/json.hpp"

namespace memsweep::reporters {

[[nodiscard]] Json said(const measure::Finding& finding);

// Returns the values of a finding. Values that do not apply to its kind are left out: docs/result-format.md,
// "finding_values[]".
[[nodiscard]] Json finding_json(const measure::Finding& finding);

[[nodiscard]] Json shift_json(const measure::Shift& shift);

}  // namespace memsweep::reporters
