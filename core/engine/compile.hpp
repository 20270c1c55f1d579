// A case made ready to be run.
//
// Errors   as compile_steps; a foreign program has nothing to compile.
#pragma once

#include "core/engine/compile_steps.hpp"
#include "core/engine/compiled_case.hpp"

namespace memsweep::engine {

// Traces are compiled once for all cases of `traces`.
[[nodiscard]] base::Expected<CompiledCase> compile(const model::Case& plan_case, PackedTraces& traces);
[[nodiscard]] base::Expected<CompiledCase> compile(const model::Case& plan_case);

}  // namespace memsweep::engine
