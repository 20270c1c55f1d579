#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string_view>

#include "app/cli/command_line.hpp"
#include "app/cli/completion.hpp"
#include "app/cli/help.hpp"
#include "app/commands/commands.hpp"
#include "core/base/refusal.hpp"
#include "core/base/text.hpp"
#include "core/engine/steps/worker.hpp"
#include "core/sys/interprocess.hpp"

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

// A stack that overflows ends the process without a word.
bool has_stack()
{
    constexpr rlim_t least_bytes = 512 << 10;
    rlimit limit{};
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= least_bytes) {
        return true;
    }
    std::fprintf(stderr, "memsweep: error: a stack of %llu KiB is too small: allow at least 512 KiB (ulimit -s)\n",
                 static_cast<unsigned long long>(limit.rlim_cur >> 10));
    return false;
}

// Allocates nothing.
ExitCode failed_by(const std::exception& problem) noexcept
{
    if (const char* const resource = memsweep::base::refused_resource(problem)) {
        std::fprintf(stderr, "memsweep: error: the system refused %s\n", resource);
        return ExitCode::bad_input;
    }
    std::fprintf(stderr, "memsweep: internal error: %s\n", problem.what());
    return ExitCode::internal;
}

// Ends the program after what nothing can catch: an exception in a thread, or where none may leave.
[[noreturn]] void end_at_once() noexcept
{
    if (const std::exception_ptr problem = std::current_exception()) {
        try {
            std::rethrow_exception(problem);
        } catch (const std::exception& known) {
            _exit(static_cast<int>(failed_by(known)));
        } catch (...) {
            std::fputs("memsweep: internal error: an unknown exception\n", stderr);
        }
    }
    std::abort();
}

// The descriptor of a worker's channel. A worker's heap is what is measured: nothing of a command line is made in it.
std::optional<int> worker_channel(int argc, const char* const* argv)
{
    const bool is_worker = argc == 3 && std::string_view{argv[1]} == "worker";
    const auto number = is_worker ? memsweep::base::parse_number(argv[2]) : std::nullopt;
    const bool is_channel = number && *number <= INT_MAX && memsweep::sys::Channel::is_end(static_cast<int>(*number));
    return is_channel ? std::optional{static_cast<int>(*number)} : std::nullopt;
}

ExitCode run(int argc, const char* const* argv)
{
    Command root{"memsweep",
                 "Measures what a memory policy costs in time, working set, page faults and bandwidth, and why."};
    GlobalOptions global;
    global.argv.assign(argv, argv + argc);
    add_global_options(root, global);
    const auto print_version = add_version(root);
    for (const AddCommand add : commands) {
        add(root, global);
    }
    if (const auto offered = completions(root, argc, argv)) {
        return print_text(*offered);
    }
    const auto request = parse(root, argc, argv);
    if (!request) {
        print_error(request.error());
        return ExitCode::bad_input;
    }
    const auto& [command, help] = *request;
    if (help) {
        return print_text(help_text(*command, root, terminal_width(STDOUT_FILENO)));
    }
    if (const auto printed = print_version()) {
        return *printed;
    }
    if (command->run) {
        return settled(command->run());
    }
    std::fputs(help_text(root, root, terminal_width(STDERR_FILENO)).c_str(), stderr);
    return ExitCode::bad_input;
}

}  // namespace

int main(int argc, char** argv)
{
    occupy_standard_descriptors();
    // A closed pipe, or a file that may grow no more, is a write error with a message, not a silent death.
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    std::set_terminate(end_at_once);
    if (!has_stack()) {
        return static_cast<int>(ExitCode::bad_input);
    }
    try {
        if (const auto channel = worker_channel(argc, argv)) {
            return memsweep::engine::worker_main(*channel);
        }
        return static_cast<int>(run(argc, argv));
    } catch (const std::exception& problem) {
        return static_cast<int>(failed_by(problem));
    }
}
