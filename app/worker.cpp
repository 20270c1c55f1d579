#include "core/engine/worker.hpp"

#include "app/commands.hpp"

namespace memsweep::app {

ExitCode execute(const WorkerCommand& command, const GlobalOptions& /*global*/)
{
    return static_cast<ExitCode>(engine::worker_main(command.channel_fd));
}

}  // namespace memsweep::app
