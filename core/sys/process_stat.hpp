// Reads the kernel's one line about a process.
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
    char state{};  // 'Z' once it has ended and nobody has waited for it; 'X' while it goes
    pid_t parent{};
    std::uint64_t flags{};         // PF_*
    std::uint64_t minor_faults{};  // page faults, of the process alone
    std::uint64_t major_faults{};
    std::uint64_t children_minor_faults{};  // of the children that it has waited for, and of theirs
    std::uint64_t children_major_faults{};
    std::uint64_t
        env_end{};  // where its environment ends; 0: the kernel is setting it up, has ended it, or does not say

    [[nodiscard]] bool has_ended() const noexcept { return state == 'Z' || state == 'X'; }
};

// Works also for a process that has ended and was not waited for. `folder` is "/proc/41/".
[[nodiscard]] std::optional<ProcessStat> read_process_stat(const std::string& folder);

}  // namespace memsweep::sys
