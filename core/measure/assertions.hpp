// Judges what a scenario claims about its own outcome.
//
// Only cases that ran (status ok) are judged: a skipped or crashed case has its own status to speak for it. An
// assertion that matches no such case has no result. A ratio is judged for every pair of cases that differ only in the
// axes it names and that both match `where`; with several pairs the expression shown names the parameters they share.
// Errors   none: what has no value fails, with its reason.
#pragma once

#include <vector>

#include "core/model/report.hpp"

namespace memsweep::measure {

// In the order of the assertions, each in the order of the cases.
[[nodiscard]] std::vector<model::AssertionResult> evaluate(const std::vector<model::Assertion>& assertions,
                                                           const std::vector<model::CaseReport>& cases);

}  // namespace memsweep::measure
