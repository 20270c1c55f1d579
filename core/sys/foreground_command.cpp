#include "core/sys/foreground_command.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <string_view>

#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/sys/wait_ready.hpp"

namespace memsweep::sys {
namespace {

constexpr int signal_base = 128;  // of a shell's status

sigset_t passed_on()
{
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        sigaddset(&set, signal);
    }
    return set;
}

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& changes)
{
    std::map<std::string, std::string> variables;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text{*entry};
        const std::size_t end = text.find('=', 1);
        if (end != std::string_view::npos) {
            variables.insert_or_assign(std::string{text.substr(0, end)}, std::string{text.substr(end + 1)});
        }
    }
    for (const auto& [name, value] : changes) {
        variables.insert_or_assign(name, value);
    }
    std::vector<std::string> lines;
    for (const auto& [name, value] : variables) {
        lines.push_back(fmt::format("{}={}", name, value));
    }
    return lines;
}

// posix_spawn takes char*, and writes to none of them.
std::vector<char*> pointers(const std::vector<std::string>& texts)
{
    std::vector<char*> list;
    for (const std::string& text : texts) {
        list.push_back(const_cast<char*>(text.c_str()));
    }
    list.push_back(nullptr);
    return list;
}

// The command's signals are as ours were, but for SIGPIPE, which we ignore.
int spawn(pid_t& pid, const std::vector<std::string>& argv, const std::vector<std::string>& environment,
          const sigset_t& mask)
{
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    sigset_t by_default;
    sigemptyset(&by_default);
    sigaddset(&by_default, SIGPIPE);
    ::posix_spawnattr_setsigdefault(&attributes, &by_default);
    ::posix_spawnattr_setsigmask(&attributes, &mask);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    const int problem = ::posix_spawnp(&pid, argv.front().c_str(), nullptr, &attributes, pointers(argv).data(),
                                       pointers(environment).data());
    ::posix_spawnattr_destroy(&attributes);
    return problem;
}

}  // namespace

ForegroundCommand::ForegroundCommand() noexcept : masks_{true}
{
    const sigset_t set = passed_on();
    ::pthread_sigmask(SIG_BLOCK, &set, &mask_before_);
    signals_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

ForegroundCommand::ForegroundCommand(ForegroundCommand&& other) noexcept
    : pid_{other.pid_}, mask_before_{other.mask_before_}, masks_{std::exchange(other.masks_, false)},
      signals_{std::move(other.signals_)}, pidfd_{std::move(other.pidfd_)}
{
}

ForegroundCommand::~ForegroundCommand()
{
    if (masks_) {
        // What came for the command is not for us any more.
        const sigset_t set = passed_on();
        constexpr timespec at_once{};
        while (::sigtimedwait(&set, nullptr, &at_once) > 0) {
        }
        ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
    }
}

base::Expected<ForegroundCommand>
ForegroundCommand::start(const std::vector<std::string>& argv,
                         const std::vector<std::pair<std::string, std::string>>& environment)
{
    if (argv.empty() || argv.front().empty()) {
        return base::fail(base::ErrorCode::invalid_input, "no command to run");
    }
    ForegroundCommand command;
    const int problem = spawn(command.pid_, argv, environment_with(environment), command.mask_before_);
    if (problem != 0) {
        return base::fail(base::os_error("cannot be run", problem, argv.front()));
    }
    command.pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, command.pid_, 0)));
    return command;
}

void ForegroundCommand::pass_on_signals() const
{
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
        if (info.ssi_code != SI_KERNEL) {
            ::kill(pid_, static_cast<int>(info.ssi_signo));
        }
    }
}

ExitStatus ForegroundCommand::wait(std::chrono::nanoseconds interval, const std::function<void()>& each)
{
    constexpr std::chrono::milliseconds without_pidfd{10};
    int wait_status = 0;
    rusage usage{};
    auto due = std::chrono::steady_clock::now() + interval;
    for (;;) {
        const pid_t reaped = retry_interrupted([&] { return ::wait4(pid_, &wait_status, WNOHANG, &usage); });
        if (reaped != 0) {
            return reaped == pid_ ? exit_status(wait_status, usage) : ExitStatus{.code = -1};
        }
        std::array<pollfd, 2> ready{{{signals_.get(), POLLIN, 0}, {pidfd_.get(), POLLIN, 0}}};
        auto patience = pidfd_.valid() ? std::chrono::nanoseconds{-1} : std::chrono::nanoseconds{without_pidfd};
        if (each) {
            patience = std::max(due - std::chrono::steady_clock::now(), std::chrono::steady_clock::duration::zero());
        }
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience);
        const timespec timeout{seconds.count(), (patience - seconds).count()};
        ::ppoll(ready.data(), ready.size(), patience.count() < 0 ? nullptr : &timeout, nullptr);
        pass_on_signals();
        if (each && std::chrono::steady_clock::now() >= due) {
            each();
            due = std::max(due + interval, std::chrono::steady_clock::now());
        }
    }
}

int shell_status(const ExitStatus& status) noexcept
{
    return status.signal != 0 ? signal_base + status.signal : status.code;
}

}  // namespace memsweep::sys
