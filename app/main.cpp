#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>

#include "app/cli/command_line.hpp"
#include "app/cli/help.hpp"
#include "app/commands/commands.hpp"

namespace {

using namespace memsweep::app;

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

ExitCode run(int argc, const char* const* argv)
{
    Command program{"memsweep",
                    "Measures what a memory policy costs in time, working set, page faults and bandwidth, and why."};
    GlobalOptions global;
    global.argv.assign(argv, argv + argc);
    add_global_options(program, global);
    const auto print_version = add_version(program);
    for (const AddCommand add : commands) {
        add(program, global);
    }
    const auto request = parse(program, argc, argv);
    if (!request) {
        print_error(request.error());
        return ExitCode::bad_input;
    }
    const auto& [command, help] = *request;
    if (help) {
        return print_text(help_text(*command, program, terminal_width(STDOUT_FILENO)));
    }
    if (const auto printed = print_version()) {
        return *printed;
    }
    if (command->run) {
        return settled(command->run());
    }
    std::fputs(help_text(program, program, terminal_width(STDERR_FILENO)).c_str(), stderr);
    return ExitCode::bad_input;
}

}  // namespace

int main(int argc, char** argv)
{
    occupy_standard_descriptors();
    std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is a write error with a message, not a silent death
    try {
        return static_cast<int>(run(argc, argv));
    } catch (const std::exception& bug) {
        std::fprintf(stderr, "memsweep: internal error: %s\n", bug.what());
        return static_cast<int>(ExitCode::internal);
    }
}
