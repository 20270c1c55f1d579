// The working set of another process, read from outside while it runs.
//
// Units    bytes.
// Sources  /proc/PID/status: VmRSS + HugetlbPages. VmRSS may lag behind by some pages per thread of the process.
// Cost     one pread, about 4 us whatever the process's size (2-core VM, Linux 6.18); the watched process
//          does nothing.
// Memory   sampling allocates nothing.
// Errors   os: the process is gone already, or belongs to somebody else under hidepid.
// Ownership  holds the process's own status file, so a later process with the same number is never mistaken for it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/expected.hpp"
#include "core/sys/unique_fd.hpp"

namespace memsweep::sys {

class ProcessWatch {
  public:
    [[nodiscard]] static base::Expected<ProcessWatch> open(pid_t pid);

    // Empty once the process has ended, reaped or not.
    [[nodiscard]] std::optional<std::uint64_t> working_set_bytes() noexcept;

  private:
    explicit ProcessWatch(UniqueFd status) noexcept;

    UniqueFd status_;
};

// All that a process has started, seen from outside at one instant.
//
// Units    bytes; page faults since the start of each process.
// Sources  /proc/PID/task/TID/children (CONFIG_PROC_CHILDREN; without it nothing is seen);
//          /proc/PID/status: VmRSS + HugetlbPages; /proc/PID/stat: minflt, majflt and, of children that were waited
//          for, cminflt and cmajflt.
// Cost     some 20 us a process (2-core VM, Linux 6.18); the processes themselves do nothing.
// Errors   none: a process that ends meanwhile counts as far as it was read.
struct TreeSample {
    std::uint64_t processes{};
    std::uint64_t working_set_bytes{};  // pages that processes share count once for each
    std::uint64_t minor_faults{};
    std::uint64_t major_faults{};
};

[[nodiscard]] TreeSample sample_descendants(pid_t process);

// From here on a process whose parent has ended becomes a child of ours, and so a descendant still.
// (PR_SET_CHILD_SUBREAPER)
void adopt_orphans() noexcept;

// How long some task has waited for memory since the machine started, in microseconds: `total` of "some" in
// /proc/pressure/memory. Empty: the kernel keeps no such figures.
[[nodiscard]] std::optional<std::uint64_t> memory_stall_us(std::string_view pressure_text);

}  // namespace memsweep::sys
