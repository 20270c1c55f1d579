// How a process ended, and what it used.
//
// Units    bytes, event counts, std::chrono.
// Sources  wait4 and its rusage, which includes the children that the process has waited for.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

struct rusage;

namespace memsweep::sys {

struct ExitStatus {
    int code{};    // meaningful when signal is 0; -1: unknown, somebody else has reaped it (SIGCHLD is ignored)
    int signal{};  // that killed it, 0 when it exited by itself
    std::uint64_t max_rss_bytes{};  // never below what the spawning process had: fork hands its own mark down
    std::uint64_t minor_faults{};
    std::uint64_t major_faults{};
    std::chrono::nanoseconds user_cpu{};
    std::chrono::nanoseconds system_cpu{};

    [[nodiscard]] bool success() const noexcept { return code == 0 && signal == 0; }

    // "exit code 3", "killed by signal 9 (SIGKILL)".
    [[nodiscard]] std::string describe() const;
};

// From what wait4 gave.
[[nodiscard]] ExitStatus exit_status(int wait_status, const rusage& usage) noexcept;

}  // namespace memsweep::sys
