#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/plans.hpp"
#include "app/commands/shipped.hpp"
#include "app/commands/this_machine.hpp"
#include "core/base/printable.hpp"
#include "core/model/plan.hpp"
#include "reporters/document/table.hpp"
#include "reporters/json/listing.hpp"

namespace memsweep::app {
namespace {

struct ValidateCommand {
    std::vector<std::string> files;
    bool json{};
};

using scenarios::Loaded;

// A row per valid file, and one per error of the others.
reporters::Listing verdicts(const std::vector<std::string>& files, const std::vector<Loaded>& plans)
{
    reporters::Listing listing{{"file", "valid", "cases", "error"}, {}};
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (plans[i]) {
            listing.rows.push_back({files[i], true, static_cast<std::int64_t>(plans[i]->cases.size()), std::string{}});
            continue;
        }
        for (const base::Error& error : plans[i].error()) {
            listing.rows.push_back({files[i], false, std::string{}, base::describe(error)});
        }
    }
    return listing;
}

// What is valid to stdout, what is not to stderr.
ExitCode print_verdicts(const std::vector<std::string>& files, const std::vector<Loaded>& plans, bool quiet)
{
    std::vector<base::Error> errors;
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (!plans[i]) {
            std::ranges::copy(plans[i].error(), std::back_inserter(errors));
        } else if (!quiet && !print_data(fmt::format("{}: ok, {}\n", base::printable(files[i]),
                                                     reporters::plural(plans[i]->cases.size(), "case")))) {
            return ExitCode::bad_input;
        }
    }
    print_places(errors);
    return ExitCode::done;
}

base::Expected<ExitCode> execute(const ValidateCommand& command, const GlobalOptions& global)
{
    const scenarios::Surroundings around = surroundings(this_machine());
    std::vector<Loaded> plans;
    for (const std::string& file : command.files) {
        plans.push_back(load_scenario(file, {}, around));
    }
    const ExitCode printed =
        command.json ? print_text(reporters::listing_json(verdicts(command.files, plans), "memsweep-validation"))
                     : print_verdicts(command.files, plans, global.quiet);
    const bool is_valid = std::ranges::all_of(plans, &Loaded::has_value);
    return worse(printed, is_valid ? ExitCode::done : ExitCode::bad_input);
}

}  // namespace

void add_validate(Command& root, const GlobalOptions& global)
{
    Command& command = root.command("validate", "Check scenario files and print every error with its place");
    auto& validate = arguments_of<ValidateCommand>(command, global, execute);
    command.positional("file FILE", value::texts(validate.files), "Scenario files; - is stdin").look_up =
        shipped_scenarios;
    command.text_or_json(validate.json, "As JSON: every file with its cases, or a row for each of its errors");
}

}  // namespace memsweep::app
