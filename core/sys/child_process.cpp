#include "core/sys/child_process.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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

int shell_status(const ExitStatus& status) noexcept
{
    constexpr int signal_base = 128;
    return status.signal != 0 ? signal_base + status.signal : status.code;
}

}  // namespace memsweep::sys
