#include "core/engine/compile.hpp"

namespace memsweep::engine {

base::Expected<CompiledCase> compile(const model::Case& plan_case)
{
    PackedTraces traces;
    return compile(plan_case, traces);
}

base::Expected<CompiledCase> compile(const model::Case& plan_case, PackedTraces& traces)
{
    CompiledCase made{.allocator = plan_case.allocator};
    if (const model::CommandSpec* const command = plan_case.command()) {
        made.work = *command;
    } else {
        made.work = MEMSWEEP_TRY(compile_steps(plan_case, traces));
    }
    return made;
}

}  // namespace memsweep::engine
