#include <fmt/format.h>

#include "app/commands.hpp"
#include "app/shipped.hpp"
#include "app/this_machine.hpp"
#include "reporters/value_text.hpp"
#include "scenarios/loader.hpp"

namespace memsweep::app {

ExitCode execute(const ValidateCommand& command, const GlobalOptions& global)
{
    const scenarios::Surroundings around = surroundings(this_machine());
    ExitCode code = ExitCode::done;
    for (const std::string& file : command.files) {
        const scenarios::Loaded plan = scenarios::load(scenario_path(file), {}, around);
        if (plan) {
            if (!global.quiet &&
                !print_data(fmt::format("{}: ok, {}\n", file, reporters::plural(plan->cases.size(), "case")))) {
                return ExitCode::bad_input;
            }
            continue;
        }
        for (const base::Error& error : plan.error()) {
            std::fprintf(stderr, "%s\n", base::describe(error).c_str());
        }
        code = ExitCode::bad_input;
    }
    return code;
}

}  // namespace memsweep::app
