#include "core/engine/in_process_executor.hpp"

#include <unistd.h>

#include "core/engine/interpreter.hpp"
#include "core/engine/region_outcome.hpp"

namespace memsweep::engine {

Outcome InProcessExecutor::run(const Program& program, const RunLimits& limits,
                               const std::function<void(int pid)>& started)
{
    Outcome outcome;
    outcome.pid = getpid();
    const auto shared = make_run_region(program, limits);
    if (!shared) {
        outcome.reason = base::describe(shared.error());
        return outcome;
    }
    const auto region = parse_run_region(*shared);
    World* world = worlds_.find_or_make(program.memory, program.release);
    if (!region || world == nullptr) {
        outcome.reason =
            region ? "too many different memory and release settings in one process" : base::describe(region.error());
        return outcome;
    }
    started(outcome.pid);
    run_repetition(*region, *world, environment_);
    read_region(*region, outcome);
    return outcome;
}

}  // namespace memsweep::engine
