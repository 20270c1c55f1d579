#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/plans.hpp"
#include "app/commands/shipped.hpp"
#include "app/commands/this_machine.hpp"
#include "core/model/plan.hpp"
#include "reporters/document/table.hpp"

namespace memsweep::app {
namespace {

struct ValidateCommand {
    std::vector<std::string> files;
};

base::Expected<ExitCode> execute(const ValidateCommand& command, const GlobalOptions& global)
{
    const scenarios::Surroundings around = surroundings(this_machine());
    std::vector<base::Error> errors;
    for (const std::string& file : command.files) {
        scenarios::Loaded plan = load_scenario(file, {}, around);
        if (plan) {
            if (!global.quiet &&
                !print_data(fmt::format("{}: ok, {}\n", file, reporters::plural(plan->cases.size(), "case")))) {
                return ExitCode::bad_input;
            }
            continue;
        }
        std::ranges::move(plan.error(), std::back_inserter(errors));
    }
    print_places(errors);
    return errors.empty() ? ExitCode::done : ExitCode::bad_input;
}

}  // namespace

void add_validate(Command& program, const GlobalOptions& global)
{
    Command& command = program.command("validate", "Check scenario files and print every error with its place");
    auto& validate = arguments_of<ValidateCommand>(command, global, execute);
    command.positional("file FILE", value::texts(validate.files), "Scenario files; - is stdin").look_up =
        shipped_scenarios;
}

}  // namespace memsweep::app
