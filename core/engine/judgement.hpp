// Decides the status of measured cases by their assertions, defects and outputs.
//
// Errors   none: problems are noted in the report.
#pragma once

#include <vector>

#include "core/model/assertion.hpp"
#include "core/model/report.hpp"

namespace memsweep::engine {

// Changes the status of a case from `ok` to `failed` for one of four reasons: a defect; wrong data; an output that
// differs from the first output; a failed assertion of severity `fail` that belongs to this case. Call it when
// all cases have ended, because assertions may compare cases.
void judge_cases(const std::vector<model::Assertion>& assertions, model::RunReport& report);

// Whether the run ends after this case. The run ends if an assertion that is only about this case fails and has
// `abort`. With `fail_fast`, the run also ends if any assertion of severity `fail` that is only about this case fails,
// or if the case is neither `ok` nor skipped.
[[nodiscard]] bool ends_run(const std::vector<model::Assertion>& assertions, bool fail_fast,
                            const model::CaseReport& ended);

}  // namespace memsweep::engine
