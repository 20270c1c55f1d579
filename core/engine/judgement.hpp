// Decides the status of measured cases, by their assertions and by what went wrong.
//
// Errors   none: mistakes are in the reports.
#pragma once

#include <vector>

#include "core/model/assertion.hpp"
#include "core/model/report.hpp"

namespace memsweep::engine {

// Fails a case that is `ok` so far, for one of four reasons: a defect, wrong data, another output than the first case
// with one, or an assertion. Assertions decide last, because they may compare cases.
void judge_cases(const std::vector<model::Assertion>& assertions, model::RunReport& report);

// Whether the run ends with this case. It does if an assertion on the case alone asks for that. With `fail_fast`, any
// failure ends it.
[[nodiscard]] bool ends_run(const std::vector<model::Assertion>& assertions, bool fail_fast,
                            const model::CaseReport& ended);

}  // namespace memsweep::engine
