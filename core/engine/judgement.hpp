// Decides the status of measured cases by their assertions, defects and outputs.
//
// Errors   none: problems are noted in the report.
#pragma once

#include <vector>

#include "core/model/assertion.hpp"
#include "core/model/report.hpp"

namespace memsweep::engine {

// Changes the status of a case from `ok` to `failed` for one of four reasons: a defect; wrong data; an output that
// differs from the first case's; a failed assertion. Assertions come last, because they may compare cases.
void judge_cases(const std::vector<model::Assertion>& assertions, model::RunReport& report);

// Whether the run ends after this case. It does if an assertion on this case alone fails and has `abort`. With
// `fail_fast`, it also ends if any assertion of severity `fail` on this case alone fails, or if the case is neither
// `ok` nor skipped.
[[nodiscard]] bool ends_run(const std::vector<model::Assertion>& assertions, bool fail_fast,
                            const model::CaseReport& ended);

}  // namespace memsweep::engine
