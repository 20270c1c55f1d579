#include "core/sys/stopped_end.hpp"

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/sys/traced_program.hpp"

namespace memsweep::sys {
namespace {

class BlockedSignals {
  public:
    BlockedSignals() noexcept
    {
        const sigset_t set = awaited_signals();
        ::pthread_sigmask(SIG_BLOCK, &set, &before_);
        // Where it is ignored, the kernel tells nobody how a child ended.
        struct sigaction by_default {};
        by_default.sa_handler = SIG_DFL;
        ::sigaction(SIGCHLD, &by_default, &child_before_);
    }
    BlockedSignals(const BlockedSignals&) = delete;
    BlockedSignals& operator=(const BlockedSignals&) = delete;
    ~BlockedSignals() { restore(); }
    void restore() const noexcept
    {
        ::sigaction(SIGCHLD, &child_before_, nullptr);
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

  private:
    sigset_t before_{};
    struct sigaction child_before_ {};
};

struct Pipe {
    UniqueFd read;
    UniqueFd write;
    [[nodiscard]] static base::Expected<Pipe> make()
    {
        std::array<int, 2> ends{-1, -1};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
            return base::fail(base::os_error("pipe", errno));
        }
        return Pipe{UniqueFd{ends[0]}, UniqueFd{ends[1]}};
    }
};

// Between fork and exec: nothing but system calls.
[[noreturn]] void become(const std::vector<char*>& words, const std::vector<char*>& environment,
                         const SpawnOptions& program, int gate, int refusal, const BlockedSignals& signals)
{
    char go = 0;
    for (const auto& [fd, number] : {std::pair{program.output, STDOUT_FILENO}, {program.error, STDERR_FILENO}}) {
        if (fd != number) {
            ::dup2(fd, number);
        }
    }
    if (retry_interrupted([&] { return ::read(gate, &go, 1); }) == 1) {
        for (const int signal : {SIGPIPE, SIGXFSZ}) {
            ::signal(signal, SIG_DFL);
        }
        signals.restore();
        ::execvpe(words.front(), words.data(), environment.data());
        const int problem = errno;
        static_cast<void>(::write(refusal, &problem, sizeof problem));
    }
    ::_exit(127);
}

base::Error refused(int problem)
{
    return {base::ErrorCode::not_supported,
            fmt::format("a program cannot be stopped at its end here: ptrace is refused ({})",
                        std::generic_category().message(problem)),
            ""};
}

}  // namespace

base::Expected<void> can_trace()
{
    Pipe gate = MEMSWEEP_TRY(Pipe::make());
    const pid_t child = ::fork();
    if (child < 0) {
        return base::fail(base::os_error("fork", errno));
    }
    if (child == 0) {
        char go = 0;
        gate.write.reset();
        static_cast<void>(retry_interrupted([&] { return ::read(gate.read.get(), &go, 1); }));
        ::_exit(0);
    }
    const int problem = ::ptrace(PTRACE_SEIZE, child, nullptr, first_options({})) == 0 ? 0 : errno;
    ::kill(child, SIGKILL);
    // A traced child stops at its end, and goes on by itself when it is killed again.
    int status = 0;
    while (retry_interrupted([&] { return ::waitpid(child, &status, __WALL); }) == child && WIFSTOPPED(status)) {
        ::ptrace(PTRACE_CONT, child, nullptr, 0);
    }
    if (problem != 0) {
        return base::fail(refused(problem));
    }
    return {};
}

base::Expected<ExitStatus> StoppedAtEnd::run(const SpawnOptions& program, const ProgramStops& stops)
{
    const std::string& name = program.argv.front();
    const std::vector<std::string> environment = MEMSWEEP_TRY(child_environment(program));
    const std::vector<char*> words = exec_list(program.argv);
    const std::vector<char*> variables = exec_list(environment);
    Pipe gate = MEMSWEEP_TRY(Pipe::make());
    Pipe refusal = MEMSWEEP_TRY(Pipe::make());
    const BlockedSignals blocked;
    const pid_t child = ::fork();
    if (child < 0) {
        return base::fail(base::os_error("fork", errno, name));
    }
    if (child == 0) {
        gate.write.reset();
        become(words, variables, program, gate.read.get(), refusal.write.get(), blocked);
    }
    gate.read.reset();
    refusal.write.reset();
    ::fcntl(refusal.read.get(), F_SETFL, O_NONBLOCK);
    if (::ptrace(PTRACE_SEIZE, child, nullptr, first_options(stops)) != 0) {
        const int problem = errno;
        gate.write.reset();
        ::waitpid(child, nullptr, __WALL);
        return base::fail(refused(problem));
    }
    const bool is_told = retry_interrupted([&] { return ::write(gate.write.get(), "g", 1); }) == 1;
    gate.write.reset();
    int problem = 0;
    ProgramStops told = stops;
    told.at_end = [&](const StoppedEnd& end) {
        // What was not started has no end.
        const bool has_begun = is_told && ::read(refusal.read.get(), &problem, sizeof problem) == 0;
        if (has_begun) {
            stops.at_end(end);
        }
    };
    const ExitStatus status = trace_to_end(child, told);
    if (stops.is_wanted) {  // a command that was not started has not become what is wanted either
        static_cast<void>(::read(refusal.read.get(), &problem, sizeof problem));
    }
    if (problem != 0) {
        return base::fail(base::os_error("cannot be run", problem, name));
    }
    return status;
}

}  // namespace memsweep::sys
