#include "app/commands.hpp"
#include "scenarios/schema.hpp"

namespace memsweep::app {

ExitCode execute(const SchemaCommand& command, const GlobalOptions& /*global*/)
{
    const std::string_view text =
        command.which == "scenario" ? scenarios::scenario_schema() : scenarios::result_schema();
    return print_data(text) ? ExitCode::done : ExitCode::bad_input;
}

}  // namespace memsweep::app
