// The repetitions of one case from another result, added to those it has.
//
// Errors   invalid_input: a metric or series with another unit, direction or class; more values than repetitions.
#pragma once

#include "core/base/expected.hpp"
#include "core/model/report.hpp"

namespace memsweep::measure {

// True when nothing but a failed assertion keeps the case from being ok.
[[nodiscard]] bool failed_by_assertion(const model::CaseReport& report);

// Metrics that only one side has are absent in the other's repetitions, with a reason. Summaries are left as they are.
[[nodiscard]] base::Expected<void> append_case(model::CaseReport& into, const model::CaseReport& from);

}  // namespace memsweep::measure
