#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>

#include "app/cli/command_line.hpp"
#include "app/cli/completion.hpp"
#include "app/cli/help.hpp"
#include "app/commands/commands.hpp"

namespace {

using namespace memsweep::app;

// Started with a standard descriptor closed, the first file opened would take its number and receive what is printed.
// What is written to a closed stdout is lost, and must fail: its place is taken by what can only be read.
void occupy_standard_descriptors()
{
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(fd, F_GETFD) < 0) {
            static_cast<void>(open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR));
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
    if (const auto offered = completions(program, argc, argv)) {
        return print_text(*offered);
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
