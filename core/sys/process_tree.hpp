// Sends signals to a process and its descendants, and kills all descendants of this process.
//
// Sources  wait4; descendants_of(), which needs CONFIG_PROC_CHILDREN. Without this kernel option, only the process that
//          is passed as argument is signalled. Call adopt_orphans() early, or descendants whose parents have ended are
//          missed.
// Threads  any one thread. During a call, no other thread may start processes or wait for processes.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace memsweep::sys {

void signal_descendants(pid_t of, int signal) noexcept;

// Sends SIGTERM, then SIGCONT, to a process and its descendants. The descendants need SIGTERM too, because a shell that
// ends does not end its children. SIGCONT lets stopped processes handle the SIGTERM. If `process` is this process, only
// its descendants are signalled. `root`: 0, or the process that adopts orphans. If `root` is not 0, the descendants of
// `root` are signalled instead of the descendants of `process`.
void ask_to_end(pid_t process, pid_t root = 0) noexcept;

struct Cleared {
    std::size_t processes{};        // how many descendants were alive and got SIGKILL
    std::uint64_t max_rss_bytes{};  // peak resident set of the largest process that was reaped
    pid_t survivor{};  // a process that did not end in time: another user's, or one blocked in the kernel; 0: none
};

// Kills all descendants of this process. Reaps its children, including adopted ones, until none is left or `patience`
// has passed.
[[nodiscard]] Cleared clear_descendants(std::chrono::nanoseconds patience) noexcept;

}  // namespace memsweep::sys
