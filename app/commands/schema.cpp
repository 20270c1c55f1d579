#include <algorithm>
#include <memory>
#include <string>

#include "app/cli/messages.hpp"
#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "scenarios/reader/schema.hpp"

namespace memsweep::app {
namespace {

struct SchemaCommand {
    std::string which;
};

ExitCode execute(const SchemaCommand& command, const GlobalOptions& /*global*/)
{
    const auto* schema = std::ranges::find(scenarios::schemas, command.which, &scenarios::NamedSchema::name);
    return print_data(schema->text()) ? ExitCode::done : ExitCode::bad_input;
}

}  // namespace

void add_schema(Command& program, const GlobalOptions& global)
{
    const auto schema = std::make_shared<SchemaCommand>();
    Command& command = program.command("schema", "Print a JSON Schema, for editors and for readers");
    command
        .positional("which WHICH", value::word(schema->which, value::names_in(scenarios::schemas)),
                    "scenario, result, gates, comparison, history, limits, fleet or fleet-trend")
        .required = true;
    command.run = [schema, &global] { return execute(*schema, global); };
}

}  // namespace memsweep::app
