// Signals a process and its descendants, and ends everything that this process has started.
//
// Sources  /proc/PID/task/TID/children (CONFIG_PROC_CHILDREN; without it only processes given by number are found);
//          wait4. Call adopt_orphans() first, or descendants whose parents have ended are missed.
// Threads  no other thread may start or wait for processes meanwhile.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace memsweep::sys {

void signal_descendants(pid_t of, int signal) noexcept;

// Sends SIGTERM to a process and all its descendants: a shell that ends leaves behind what it waits for. A stopped
// process hears it too. If `process` is our own, only its descendants are asked.
// `root`: the process that adopts the orphans, whose descendants are asked instead; 0: there is none.
void ask_to_end(pid_t process, pid_t root = 0) noexcept;

struct Cleared {
    std::size_t processes{};        // descendants that were alive, and killed
    std::uint64_t max_rss_bytes{};  // of the largest process that was reaped
    pid_t survivor{};  // a process that did not end in time: another user's, or one that hangs in the kernel; 0: none
};

// Kills all descendants of this process, and reaps those that are or become its children, until none is left.
[[nodiscard]] Cleared clear_descendants(std::chrono::nanoseconds patience) noexcept;

}  // namespace memsweep::sys
