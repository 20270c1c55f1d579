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

#include <cstdint>
#include <optional>

#include <sys/types.h>

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

}  // namespace memsweep::sys
