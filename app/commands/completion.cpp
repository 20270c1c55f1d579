#include <memory>

#include "app/cli/completion.hpp"
#include "app/cli/messages.hpp"
#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"

namespace memsweep::app {

void add_completion(Command& program, const GlobalOptions& /*global*/)
{
    const auto shell = std::make_shared<std::string>();
    Command& command = program.command("completion", "Print the completion script of a shell");
    command
        .positional("shell SHELL", value::word(*shell, {completion_shells.begin(), completion_shells.end()}),
                    "bash, zsh or fish")
        .required = true;
    command.footer = "In bash: source <(memsweep completion bash). Installed packages bring the scripts along.";
    command.run = [shell, &program] {
        return print_data(completion_script(program, *shell)) ? ExitCode::done : ExitCode::bad_input;
    };
}

}  // namespace memsweep::app
