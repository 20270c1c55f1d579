// Asking this process's control group to give up memory.
//
// Units    bytes.
// Sources  memory.reclaim of cgroup v2 (Linux 5.19), in the group of this process. It takes whatever the group holds:
//          page cache of any of its processes first, anonymous memory only where there is swap.
// Errors   not_supported: there is no such file here (cgroup v1, or no memory controller); os: it cannot be written.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/expected.hpp"

namespace memsweep::sys {

// The file to write to, checked to be writable. `root` ends with a slash.
[[nodiscard]] base::Expected<std::string> cgroup_reclaim_file(const std::string& root);

// Whether as many bytes were reclaimed; the kernel answers no when it found fewer.
[[nodiscard]] bool reclaim_from_cgroup(const std::string& file, std::uint64_t bytes) noexcept;

}  // namespace memsweep::sys
