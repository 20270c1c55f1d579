#include "core/sys/child_process.hpp"

#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

#include <fmt/format.h>

#include "core/sys/clock.hpp"

namespace memsweep::sys {
namespace {

constexpr std::uint64_t rusage_block_bytes = 512;

std::chrono::nanoseconds duration(const timeval& time)
{
    return std::chrono::seconds{time.tv_sec} + std::chrono::microseconds{time.tv_usec};
}

}  // namespace

std::string ExitStatus::describe() const
{
    if (signal != 0) {
        const char* const name = ::sigabbrev_np(signal);
        return name != nullptr ? fmt::format("killed by signal {} (SIG{})", signal, name)
                               : fmt::format("killed by signal {}", signal);
    }
    return code >= 0 ? fmt::format("exit code {}", code) : "ended, its exit code unknown";
}

ExitStatus exit_status(int wait_status, const rusage& usage) noexcept
{
    const bool killed = WIFSIGNALED(wait_status);
    return {.code = killed ? 0 : WEXITSTATUS(wait_status),
            .signal = killed ? WTERMSIG(wait_status) : 0,
            .max_rss_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024,
            .minor_faults = static_cast<std::uint64_t>(usage.ru_minflt),
            .major_faults = static_cast<std::uint64_t>(usage.ru_majflt),
            .user_cpu = duration(usage.ru_utime),
            .system_cpu = duration(usage.ru_stime),
            .context_switches =
                static_cast<std::uint64_t>(usage.ru_nvcsw) + static_cast<std::uint64_t>(usage.ru_nivcsw),
            .read_bytes = static_cast<std::uint64_t>(usage.ru_inblock) * rusage_block_bytes,
            .written_bytes = static_cast<std::uint64_t>(usage.ru_oublock) * rusage_block_bytes};
}

ChildProcess::ChildProcess(pid_t pid, UniqueFd pidfd) noexcept : pid_{pid}, pidfd_{std::move(pidfd)} {}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_{std::exchange(other.pid_, -1)}, pidfd_{std::move(other.pidfd_)}, status_{other.status_}
{
}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept
{
    std::swap(pid_, other.pid_);
    std::swap(pidfd_, other.pidfd_);
    std::swap(status_, other.status_);
    return *this;
}

ChildProcess::~ChildProcess()
{
    if (pid_ > 0) {
        kill_and_reap();
    }
}

std::optional<ExitStatus> ChildProcess::reap(int flags) noexcept
{
    if (status_) {
        return status_;
    }
    int wait_status = 0;
    rusage usage{};
    const pid_t reaped = retry_interrupted([&] { return ::wait4(pid_, &wait_status, flags, &usage); });
    if (reaped == pid_) {
        status_ = exit_status(wait_status, usage);
    } else if (reaped < 0) {
        status_ = ExitStatus{.code = -1};  // ECHILD: the process ignores SIGCHLD, so the kernel has reaped it
    }
    return status_;
}

std::optional<ExitStatus> ChildProcess::try_wait() noexcept
{
    return reap(WNOHANG);
}

std::optional<ExitStatus> ChildProcess::wait_for(std::chrono::nanoseconds duration) noexcept
{
    if (!status_) {
        // A failing poll is no end: then the child is simply asked once.
        static_cast<void>(wait_readable(pidfd_.get(), duration));
    }
    return try_wait();
}

ExitStatus ChildProcess::kill_and_reap() noexcept
{
    if (const auto ended = try_wait()) {
        return *ended;
    }
    // Its number cannot have been given to another process: it has not been reaped.
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);
    return reap(0).value_or(ExitStatus{.code = -1});
}

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

}  // namespace

ForegroundCommand::ForegroundCommand() noexcept : masks_{true}
{
    const sigset_t set = passed_on();
    ::pthread_sigmask(SIG_BLOCK, &set, &mask_before_);
    signals_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

ForegroundCommand::ForegroundCommand(ForegroundCommand&& other) noexcept
    : pid_{other.pid_}, begun_{other.begun_}, mask_before_{other.mask_before_},
      masks_{std::exchange(other.masks_, false)}, signals_{std::move(other.signals_)}, pidfd_{std::move(other.pidfd_)}
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
            signals_.reset();  // whoever has few descriptors needs them now
            pidfd_.reset();
            return reaped == pid_ ? exit_status(wait_status, usage) : ExitStatus{.code = -1};
        }
        std::array<pollfd, 2> ready{{{signals_.get(), POLLIN, 0}, {pidfd_.get(), POLLIN, 0}}};
        auto patience = pidfd_.valid() ? std::chrono::nanoseconds{-1} : std::chrono::nanoseconds{without_pidfd};
        if (each) {
            patience = std::max(due - std::chrono::steady_clock::now(), std::chrono::steady_clock::duration::zero());
        }
        const timespec timeout = to_timespec(patience);
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
