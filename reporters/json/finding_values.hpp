// Findings for programs: a sentence, as all reports say it, and the values that it was made of.
#pragma once

#include "core/measure/findings.hpp"
#include "reporters/text/json.hpp"

namespace memsweep::reporters {

[[nodiscard]] Json said(const measure::Finding& finding);

// What does not apply is left out: docs/result-format.md, "finding_values[]".
[[nodiscard]] Json finding_json(const measure::Finding& finding);

[[nodiscard]] Json shift_json(const measure::Shift& shift);

}  // namespace memsweep::reporters
