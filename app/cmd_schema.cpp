#include <algorithm>

#include "app/commands.hpp"
#include "scenarios/schema.hpp"

namespace memsweep::app {

ExitCode execute(const SchemaCommand& command, const GlobalOptions& /*global*/)
{
    const auto* schema = std::ranges::find(scenarios::schemas, command.which, &scenarios::NamedSchema::name);
    return print_data(schema->text()) ? ExitCode::done : ExitCode::bad_input;
}

}  // namespace memsweep::app
