// The end of everything that this process has started.
//
// Sources  /proc/PID/task/TID/children (CONFIG_PROC_CHILDREN; without it only what is asked for by number is found);
//          wait4. Whoever wants descendants whose parents have ended to be found calls adopt_orphans() before.
// Threads  no other thread may start or wait for processes meanwhile.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace memsweep::sys {

void signal_descendants(int signal) noexcept;

struct Cleared {
    std::size_t processes{};        // that were alive, and killed
    std::uint64_t max_rss_bytes{};  // of the largest of those that were reaped
    bool all{true};                 // false: some did not end in time (they hang in the kernel)
};

// Kills all descendants and reaps those that are or become children of ours, for as long as there are any.
[[nodiscard]] Cleared clear_descendants(std::chrono::nanoseconds patience) noexcept;

}  // namespace memsweep::sys
