#include "app/commands.hpp"
#include "app/completion.hpp"

namespace memsweep::app {

ExitCode execute(const CompletionCommand& command, const GlobalOptions& /*global*/)
{
    const std::string text = command.shell == "bash"  ? bash_completion(command.tree)
                             : command.shell == "zsh" ? zsh_completion(command.tree)
                                                      : fish_completion(command.tree);
    return print_data(text) ? ExitCode::done : ExitCode::bad_input;
}

}  // namespace memsweep::app
