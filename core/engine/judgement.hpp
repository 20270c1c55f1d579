// The status of what was measured, by what it claims and by what went wrong.
//
// Errors   none: mistakes are in the reports.
#pragma once

#include <vector>

#include "core/model/assertion.hpp"
#include "core/model/report.hpp"

namespace memsweep::engine {

// Fails a case that is `ok` so far for a defect, for wrong data, for another output than that of the first case that
// has one, or for an assertion. Assertions decide last, since they may compare cases.
void judge_cases(const std::vector<model::Assertion>& assertions, model::RunReport& report);

// Whether the run ends with this case. It does if an assertion on the case alone asks for that. If the run is to end
// with the first failure, any failure ends it.
[[nodiscard]] bool ends_run(const std::vector<model::Assertion>& assertions, bool fail_fast,
                            const model::CaseReport& ended);

}  // namespace memsweep::engine
