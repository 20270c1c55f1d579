// Reads /proc/PID/stat, the line in which the kernel shows the state and the counts of a process.
//
// Sources  proc_pid_stat(5).
// Cost     some 15 us: the kernel writes 52 fields.
// Threads  any.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace memsweep::sys {

struct ProcessStat {
    char state{};  // 'Z': it has ended and was not reaped; 'X': it is being removed
    pid_t parent{};
    std::uint64_t flags{};         // PF_*
    std::uint64_t minor_faults{};  // page faults of the process itself, without its children
    std::uint64_t major_faults{};
    std::uint64_t children_minor_faults{};  // of all descendants that were waited for (reaped)
    std::uint64_t children_major_faults{};
    std::uint64_t
        env_end{};  // end address of its environment; 0: the process is just starting, has ended, or hides this

    [[nodiscard]] bool has_ended() const noexcept { return state == 'Z' || state == 'X'; }
};

// `folder` is the process's folder, such as "/proc/41/". Works also for a process that has ended and was not reaped.
// Absent: no process has this folder.
[[nodiscard]] std::optional<ProcessStat> read_process_stat(const std::string& folder);

// Returns the number that the process has in its own, innermost PID namespace (NSpid in /proc/PID/status). `folder` is
// as for read_process_stat(). Absent: the process does not exist, or /proc hides it.
[[nodiscard]] std::optional<std::uint64_t> innermost_number(const std::string& folder);

}  // namespace memsweep::sys
