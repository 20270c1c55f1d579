// How children are started: fork and exec, or fork alone.
#include "core/sys/child_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/sys/process_probe.hpp"

namespace memsweep::sys {

std::vector<char*> exec_list(const std::vector<std::string>& texts)
{
    std::vector<char*> list;
    list.reserve(texts.size() + 1);
    for (const std::string& text : texts) {
        list.push_back(const_cast<char*>(text.c_str()));
    }
    list.push_back(nullptr);
    return list;
}

namespace {

#ifndef CLOSE_RANGE_CLOEXEC
constexpr unsigned CLOSE_RANGE_CLOEXEC = 4;  // NOLINT(readability-identifier-naming): the kernel's name
#endif

constexpr int could_not_run = 127;  // as a shell says it

// All that a child needs on its way to its program, made before the fork: after it, in a process that may have had
// threads, it must not allocate or take a lock.
struct Launch {
    std::vector<char*> argv;         // into the options, which must outlive this; both lists end with a null pointer
    std::vector<char*> environment;  // into variables
    std::vector<std::string> variables;
    std::vector<std::pair<int, int>> inherit;
    std::vector<int> lifted;  // for each of `inherit`, where it waits out of the way of the numbers asked for
    int first_free_fd{};      // above every number asked for
    int parent_fd{-1};        // the child's end of the socket to the parent
    pid_t parent{};
};

// What the child tells the parent when it cannot become the program. A successful exec closes the socket instead.
struct Failure {
    std::array<char, 16> call{};
    int error{};
};

// Everything that exec should not keep; the raw call, since older C libraries lack a name for it.
void close_on_exec_from(unsigned first)
{
    if (::syscall(SYS_close_range, first, ~0U, CLOSE_RANGE_CLOEXEC) == 0) {
        return;
    }
    constexpr rlim_t most = 65536;  // before Linux 5.11, or refused by a sandbox
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    for (auto fd = static_cast<int>(first); fd < static_cast<int>(std::min(limit.rlim_cur, most)); ++fd) {
        ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
}

void reset_signals()
{
    struct sigaction by_default {};
    by_default.sa_handler = SIG_DFL;
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGCHLD}) {
        ::sigaction(signal, &by_default, nullptr);
    }
    sigset_t none;
    sigemptyset(&none);
    ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

// Runs in the child. Returns only on failure: the call that failed, with errno set.
std::string_view become_program(Launch& launch)
{
    // From here on the parent's death kills us; if it has come already, nobody would.
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
        return "prctl";
    }
    if (::getppid() != launch.parent) {
        ::_exit(could_not_run);
    }
    // Not before the parent has a pidfd: where SIGCHLD is ignored, an early end would free our number for others.
    char go{};
    if (retry_interrupted([&] { return ::recv(launch.parent_fd, &go, 1, 0); }) != 1) {
        ::_exit(could_not_run);
    }
    if (::setpgid(0, 0) != 0) {
        return "setpgid";
    }
    for (std::size_t i = 0; i < launch.inherit.size(); ++i) {
        launch.lifted[i] = ::fcntl(launch.inherit[i].first, F_DUPFD_CLOEXEC, launch.first_free_fd);
        if (launch.lifted[i] < 0) {
            return "inherit";
        }
    }
    close_on_exec_from(3);
    for (std::size_t i = 0; i < launch.inherit.size(); ++i) {
        if (::dup2(launch.lifted[i], launch.inherit[i].second) < 0) {  // the copy is not close-on-exec
            return "dup2";
        }
    }
    reset_signals();
    ::execvpe(launch.argv.front(), launch.argv.data(), launch.environment.data());
    return "exec";
}

[[noreturn]] void run_child(Launch& launch)
{
    const std::string_view call = become_program(launch);
    Failure failure{.error = errno};
    std::ranges::copy(call, failure.call.begin());
    ::send(launch.parent_fd, &failure, sizeof failure, MSG_NOSIGNAL);
    ::_exit(could_not_run);
}

struct Ends {
    UniqueFd ours;
    UniqueFd childs;
};

// The child's end lies above every number that it has been promised, so that no dup2 there closes it.
base::Expected<Ends> connect(int first_free_fd)
{
    std::array<int, 2> sockets{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
        return base::fail(base::os_error("socketpair", errno));
    }
    Ends ends{UniqueFd{sockets[0]}, UniqueFd{sockets[1]}};
    ends.childs = UniqueFd{::fcntl(ends.childs.get(), F_DUPFD_CLOEXEC, first_free_fd)};
    if (!ends.childs.valid()) {
        return base::fail(base::os_error("fcntl", errno));
    }
    return ends;
}

// Signals stay blocked until the child has left the handlers behind that it inherited.
pid_t fork_with_signals_blocked(Launch& launch)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t pid = ::fork();
    if (pid == 0) {
        run_child(launch);
    }
    const int error = errno;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = error;
    return pid;
}

// Ends a child whose program has not begun, and says why.
tl::unexpected<base::Error> given_up(pid_t pid, base::Error error)
{
    ::kill(pid, SIGKILL);
    retry_interrupted([&] { return ::waitpid(pid, nullptr, 0); });
    return base::fail(std::move(error));
}

bool has_nul(std::string_view text)
{
    return text.find('\0') != std::string_view::npos;
}

base::Expected<void> check(const SpawnOptions& options)
{
    using base::ErrorCode;
    if (options.argv.empty() || options.argv.front().empty()) {
        return base::fail(ErrorCode::invalid_input, "no program to run");
    }
    if (std::ranges::any_of(options.argv, has_nul)) {
        return base::fail(ErrorCode::invalid_input, "an argument holds a NUL character", options.argv.front());
    }
    for (const auto& [name, value] : options.environment) {
        if (name.empty() || name.find('=') != std::string::npos || has_nul(name) || has_nul(value)) {
            return base::fail(ErrorCode::invalid_input, fmt::format("'{}' cannot be an environment variable", name),
                              options.argv.front());
        }
    }
    std::set<int> numbers;
    for (const auto& [ours, theirs] : options.inherit) {
        if (ours < 0 || theirs < 0 || !numbers.insert(theirs).second) {
            return base::fail(ErrorCode::invalid_input,
                              fmt::format("descriptor {} cannot be {} in the child", ours, theirs),
                              options.argv.front());
        }
    }
    return {};
}

std::vector<std::string> merged_environment(const SpawnOptions& options)
{
    std::map<std::string, std::string> variables;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text{*entry};
        const std::size_t end = text.find('=', 1);
        if (end != std::string_view::npos) {
            variables.insert_or_assign(std::string{text.substr(0, end)}, std::string{text.substr(end + 1)});
        }
    }
    for (const std::string& name : options.without) {
        variables.erase(name);
    }
    for (const auto& [name, value] : options.environment) {
        variables.insert_or_assign(name, value);
    }
    std::vector<std::string> merged;
    merged.reserve(variables.size());
    for (const auto& [name, value] : variables) {
        merged.push_back(fmt::format("{}={}", name, value));
    }
    return merged;
}

// parent_fd is left to the caller.
base::Expected<Launch> prepare_launch(const SpawnOptions& options)
{
    MEMSWEEP_TRY(check(options));
    Launch launch;
    launch.argv = exec_list(options.argv);
    launch.variables = merged_environment(options);
    launch.environment = exec_list(launch.variables);
    launch.inherit = options.inherit;
    launch.lifted.resize(options.inherit.size());
    launch.first_free_fd = 3;
    for (const auto& [ours, theirs] : options.inherit) {
        launch.first_free_fd = std::max(launch.first_free_fd, theirs + 1);
    }
    launch.parent = ::getpid();
    return launch;
}

}  // namespace

base::Expected<std::vector<std::string>> child_environment(const SpawnOptions& options)
{
    MEMSWEEP_TRY(check(options));
    return merged_environment(options);
}

base::Expected<ChildProcess> ChildProcess::spawn(const SpawnOptions& options)
{
    auto prepared = MEMSWEEP_TRY(prepare_launch(options));
    Launch& launch = prepared;
    auto ends = MEMSWEEP_TRY(connect(launch.first_free_fd));
    const std::string& program = options.argv.front();
    launch.parent_fd = ends.childs.get();
    const pid_t pid = fork_with_signals_blocked(launch);
    if (pid < 0) {
        return base::fail(base::os_error("fork", errno, program));
    }
    ends.childs.reset();
    UniqueFd pidfd{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
    if (!pidfd.valid()) {
        return given_up(pid, base::os_error("pidfd_open", errno, program));
    }
    constexpr char go = 'g';
    Failure failure;
    const bool told = ::send(ends.ours.get(), &go, 1, MSG_NOSIGNAL) == 1;
    const ssize_t got = retry_interrupted([&] { return ::recv(ends.ours.get(), &failure, sizeof failure, 0); });
    if (told && got == 0) {
        return ChildProcess{pid, std::move(pidfd)};
    }
    return given_up(pid, got > 0 ? base::os_error(failure.call.data(), failure.error, program)
                                 : base::os_error("starting a process", errno, program));
}

base::Expected<ChildProcess> ChildProcess::copy(const std::function<void()>& work)
{
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) {
        return base::fail(base::os_error("fork", errno));
    }
    if (pid == 0) {
        [&]() noexcept {  // nothing may unwind into what is the parent's
            ::setpgid(0, 0);
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            adopt_orphans();
            if (::getppid() == parent) {
                work();
            }
            ::_exit(0);
        }();
    }
    UniqueFd pidfd{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
    if (!pidfd.valid()) {
        return given_up(pid, base::os_error("pidfd_open", errno));
    }
    return ChildProcess{pid, std::move(pidfd)};
}

}  // namespace memsweep::sys
