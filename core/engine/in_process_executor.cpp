#include "core/engine/in_process_executor.hpp"

#include <unistd.h>

#include "core/engine/driver_memory.hpp"
#include "core/engine/interpreter.hpp"
#include "core/engine/run_region.hpp"

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
    if (!region) {
        outcome.reason = base::describe(region.error());
        return outcome;
    }
    started(outcome.pid);
    const auto driver = find_driver(region->header->order, environment_, region->header->record.device);
    if (!driver) {
        leave_unmet(*region, driver.error());
        read_region(*region, outcome);
        return outcome;
    }
    CaseMemory* memory = memories_.find_or_make(program.memory, program.release, *driver);
    if (memory == nullptr) {
        outcome.reason = "too many different memory and release settings in one process";
        return outcome;
    }
    run_repetition(*region, *memory, environment_);
    read_region(*region, outcome);
    return outcome;
}

}  // namespace memsweep::engine
