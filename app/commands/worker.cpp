#include <climits>
#include <memory>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "core/engine/worker.hpp"

namespace memsweep::app {

// The process that cases run in.
void add_worker(Command& program, const GlobalOptions& /*global*/)
{
    const auto channel_fd = std::make_shared<int>();
    Command& command = program.hidden_command("worker");
    command.positional("fd FD", value::number(*channel_fd, 0, INT_MAX), "").required = true;
    command.run = [channel_fd] { return static_cast<ExitCode>(engine::worker_main(*channel_fd)); };
}

}  // namespace memsweep::app
