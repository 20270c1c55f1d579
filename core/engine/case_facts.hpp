// What a case's repetitions say beside their values, and what becomes of its status when all cases have been measured.
//
// Errors   none: what is wrong stands in the reports.
#pragma once

#include <string>
#include <vector>

#include "core/engine/repetition/attempt.hpp"
#include "core/engine/repetition/compiled_case.hpp"
#include "core/model/assertion.hpp"
#include "core/model/report.hpp"

namespace memsweep::engine {

// Keeps the facts of a repetition that is no warm-up: which library allocated, which way transfers took, what a command
// left behind and printed. Each fact stays as the first repetition gave it.
//
// Returns why the repetition does not count, if it printed something else than the first; empty otherwise.
[[nodiscard]] std::string keep_facts(const CompiledCase& compiled, const Attempt& attempt, model::CaseReport& report);

// Fails a case that is well so far for a defect, for data that arrived wrong, for an output other than that of the
// first case that has one, or for an assertion. Assertions decide last, since they may compare cases.
void judge_cases(const std::vector<model::Assertion>& assertions, model::RunReport& report);

// Whether the run ends with this case. It does if an assertion on the case alone asks for that. If the run is to end
// with the first failure, any failure ends it.
[[nodiscard]] bool ends_run(const std::vector<model::Assertion>& assertions, bool fail_fast,
                            const model::CaseReport& ended);

}  // namespace memsweep::engine
