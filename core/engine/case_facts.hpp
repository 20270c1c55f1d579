// The facts that a case's repetitions give beside their values.
//
// Errors   none: mistakes are in the reports.
#pragma once

#include <string>

#include "core/engine/repetition/attempt.hpp"
#include "core/engine/repetition/compiled_case.hpp"
#include "core/model/report.hpp"

namespace memsweep::engine {

// Keeps the facts of a repetition that is no warm-up: the allocating library, the routes of transfers, the output of a
// command and the processes that it left behind. Each fact stays as the first repetition gave it.
//
// Returns why the repetition does not count, if it printed something else than the first; empty otherwise.
[[nodiscard]] std::string keep_facts(const CompiledCase& compiled, const Attempt& attempt, model::CaseReport& report);

}  // namespace memsweep::engine
