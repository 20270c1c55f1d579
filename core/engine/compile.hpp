// Compiles a case so that it can be run.
//
// Errors   as compile_steps(); none for a foreign program, which needs no compilation.
#pragma once

#include "core/engine/repetition/compiled_case.hpp"
#include "core/engine/steps/compile_steps.hpp"

namespace memsweep::engine {

// `traces`: keeps compiled traces, so that each trace is compiled only once for all cases.
[[nodiscard]] base::Expected<CompiledCase> compile(const model::Case& plan_case, PackedTraces& traces);
[[nodiscard]] base::Expected<CompiledCase> compile(const model::Case& plan_case);

}  // namespace memsweep::engine
