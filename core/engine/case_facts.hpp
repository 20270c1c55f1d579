// Facts about a case that are found out by its repetitions and are not metrics.
//
// Errors   none: problems are noted in the report.
#pragma once

#include <string>

#include "core/engine/repetition/attempt.hpp"
#include "core/engine/repetition/compiled_case.hpp"
#include "core/model/report.hpp"

namespace memsweep::engine {

// Adds the facts of a repetition to the report: the allocator's library, the routes of transfers, a program's output,
// and the processes that the program left behind. A fact that already has a value from an earlier repetition keeps this
// value. Do not call this for warm-ups.
//
// If the program's output differs from that of the first repetition, returns why this repetition does not count;
// otherwise returns an empty text.
[[nodiscard]] std::string keep_facts(const CompiledCase& compiled, const Attempt& attempt, model::CaseReport& report);

}  // namespace memsweep::engine
