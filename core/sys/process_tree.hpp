// Sends signals to a process and its descendants, and kills all descendants of this process.
//
// Sources  wait4; descendants_of(), which needs CONFIG_PROC_CHILDREN. Without it only the process passed as argument is
//          signalled. Call adopt_orphans() early, or descendants whose parents have ended are missed.
// Threads  no other thread may start or wait for processes meanwhile.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace memsweep::sys {

void signal_descendants(pid_t of, int signal) noexcept;

// Sends SIGTERM to a process and its descendants. The descendants need it too, because a shell that ends does not end
// its children. SIGCONT follows, so that stopped processes handle the SIGTERM too. If `process` is this process, only
// its descendants are signalled. `root`: the process that adopts orphans. If it is not 0, the descendants of `root` are
// signalled in place of those of `process`.
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
