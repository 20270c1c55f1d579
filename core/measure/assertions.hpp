// Judges the assertions of a scenario, that is, what it claims about its own results.
//
// Only cases with status ok are judged; the status of a skipped or crashed case says enough. If an assertion matches no
// case with status ok, its outcome is not_evaluated. A ratio is judged for every pair of cases that match `where` and
// differ only in the axes of the ratio. If there are several pairs, the expression in each result names the parameters
// that both cases of its pair share.
//
// Errors   none: an assertion on a value that was not measured fails, with the reason.
#pragma once

#include <optional>
#include <vector>

#include "core/model/report.hpp"

namespace memsweep::measure {

// Judges every assertion. Results are in the order of the assertions. The results of one assertion are in the order of
// the cases.
[[nodiscard]] std::vector<model::AssertionResult> evaluate(const std::vector<model::Assertion>& assertions,
                                                           const std::vector<model::CaseReport>& cases);

// Judges one case alone. nullopt: the status of the case is not ok, the assertion does not match the case, or the
// assertion is about two cases.
[[nodiscard]] std::optional<model::AssertionResult> evaluate_case(const model::Assertion& assertion,
                                                                  const model::CaseReport& report);

}  // namespace memsweep::measure
