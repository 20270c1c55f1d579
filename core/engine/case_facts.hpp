// The facts that a case's repetitions give beside their values, and its status after all cases have been measured.
//
// Errors   none: mistakes are in the reports.
#pragma once

#include <string>
#include <vector>

#include "core/engine/repetition/attempt.hpp"
#include "core/engine/repetition/compiled_case.hpp"
#include "core/model/assertion.hpp"
#include "core/model/report.hpp"

namespace memsweep::engine {

// Keeps the facts of a repetition that is no warm-up: the allocating library, the routes of transfers, the output of a
// command and the processes that it left behind. Each fact stays as the first repetition gave it.
//
// Returns why the repetition does not count, if it printed something else than the first; empty otherwise.
[[nodiscard]] std::string keep_facts(const CompiledCase& compiled, const Attempt& attempt, model::CaseReport& report);

// Fails a case that is `ok` so far for a defect, for wrong data, for another output than that of the first case that
// has one, or for an assertion. Assertions decide last, since they may compare cases.
void judge_cases(const std::vector<model::Assertion>& assertions, model::RunReport& report);

// Whether the run ends with this case. It does if an assertion on the case alone asks for that. If the run is to end
// with the first failure, any failure ends it.
[[nodiscard]] bool ends_run(const std::vector<model::Assertion>& assertions, bool fail_fast,
                            const model::CaseReport& ended);

}  // namespace memsweep::engine
