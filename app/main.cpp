#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>

#include "app/cli.hpp"
#include "app/commands.hpp"

using memsweep::app::ExitCode;
using memsweep::app::Options;
using memsweep::app::parse_command_line;

namespace {

// Started with a standard descriptor closed, the first file opened would take its number and receive what is printed.
void occupy_standard_descriptors()
{
    for (int fd = open("/dev/null", O_RDWR); fd >= 0; fd = open("/dev/null", O_RDWR)) {
        if (fd > STDERR_FILENO) {
            close(fd);
            return;
        }
    }
}

}  // namespace

int main(int argc, char** argv)
{
    occupy_standard_descriptors();
    std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is a write error with a message, not a silent death
    try {
        const auto parsed = parse_command_line(argc, argv);
        if (const auto* answered = std::get_if<ExitCode>(&parsed)) {
            return static_cast<int>(*answered);
        }
        const auto& options = std::get<Options>(parsed);
        return static_cast<int>(
            std::visit([&](const auto& command) { return execute(command, options.global); }, options.command));
    } catch (const std::exception& bug) {
        std::fprintf(stderr, "memsweep: internal error: %s\n", bug.what());
        return static_cast<int>(ExitCode::internal);
    }
}
