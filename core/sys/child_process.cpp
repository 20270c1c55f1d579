#include "core/sys/child_process.hpp"

#include <csignal>

#include <sys/resource.h>
#include <sys/wait.h>

#include "core/sys/child_spawn.hpp"
#include "core/sys/wait_ready.hpp"

namespace memsweep::sys {

base::Expected<ChildProcess> ChildProcess::spawn(const SpawnOptions& options)
{
    auto started = start_program(options);
    if (!started) {
        return base::fail(std::move(started).error());
    }
    return ChildProcess{started->pid, std::move(started->pidfd)};
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

}  // namespace memsweep::sys
