#include "core/sys/exit_status.hpp"

#include <cstring>

#include <sys/resource.h>
#include <sys/wait.h>

#include <fmt/format.h>

namespace memsweep::sys {
namespace {

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
            .system_cpu = duration(usage.ru_stime)};
}

}  // namespace memsweep::sys
