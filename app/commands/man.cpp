#include <memory>

#include "app/cli/manual_page.hpp"
#include "app/cli/messages.hpp"
#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "core/model/machine.hpp"

namespace memsweep::app {

// The build calls it to make the page that is installed.
void add_man(Command& program, const GlobalOptions& /*global*/)
{
    const auto date = std::make_shared<std::string>();
    Command& command = program.hidden_command("man");
    command.option("--date DATE", value::text(*date), "Of the page's footer, as in 2026-01-31").required = true;
    command.run = [date, &program] {
        return print_data(manual_page(program, model::this_tool().version, *date)) ? ExitCode::done
                                                                                   : ExitCode::bad_input;
    };
}

}  // namespace memsweep::app
