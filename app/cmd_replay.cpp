#include <filesystem>

#include "app/commands.hpp"
#include "app/dry_run.hpp"
#include "app/run_session.hpp"
#include "app/this_machine.hpp"
#include "scenarios/replay_plan.hpp"

namespace memsweep::app {
namespace {

// As `run` would be told: `-f json` is the result itself, any other format a report beside it.
RunCommand as_run(const ReplayCommand& command)
{
    RunCommand run;
    run.scenarios = {command.request.trace};
    run.reports = command.reports;
    run.overrides.repetitions = command.request.repetitions;
    run.out = command.out;
    if (command.format == "json") {
        run.out = command.out.empty() ? "-" : command.out;
    } else if (!command.format.empty()) {
        run.reports.push_back({command.format, command.out});
        run.out.clear();
    }
    return run;
}

}  // namespace

ExitCode execute(const ReplayCommand& command, const GlobalOptions& global)
{
    const model::Machine machine = this_machine();
    scenarios::ReplayRequest request = command.request;
    if (request.trace != "-") {
        std::error_code ignored;
        const auto absolute = std::filesystem::absolute(request.trace, ignored);
        request.trace = ignored ? request.trace : absolute.lexically_normal().string();
    }
    auto plan = scenarios::replay_plan(request, surroundings(machine));
    if (!plan) {
        for (const base::Error& error : plan.error()) {
            print_error(error);
        }
        return ExitCode::bad_input;
    }
    const engine::Capabilities has = capabilities(machine);
    const std::uint64_t budget = command.max_memory_bytes.value_or(has.memory_bytes / 5 * 4);
    if (command.dry_run) {
        return print_data(dry_run_text({*plan}, budget)) ? ExitCode::done : ExitCode::bad_input;
    }
    const RunCommand run = as_run(command);
    RunSession session{run, global, machine, has, budget};
    return session.run(*plan);
}

}  // namespace memsweep::app
