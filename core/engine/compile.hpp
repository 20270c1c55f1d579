// Makes a case ready to be run.
//
// Errors   as compile_steps; a foreign program has nothing to compile.
#pragma once

#include "core/engine/repetition/compiled_case.hpp"
#include "core/engine/steps/compile_steps.hpp"

namespace memsweep::engine {

// A trace is compiled once for all cases that share `traces`.
[[nodiscard]] base::Expected<CompiledCase> compile(const model::Case& plan_case, PackedTraces& traces);
[[nodiscard]] base::Expected<CompiledCase> compile(const model::Case& plan_case);

}  // namespace memsweep::engine
