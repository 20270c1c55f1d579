// How much more memory the limits of this process let it map.
//
// Units    bytes.
// Sources  getrlimit(2): RLIMIT_AS and RLIMIT_DATA, less VmSize and VmData of /proc/self/status.
#pragma once

#include <cstdint>
#include <optional>

namespace memsweep::sys {

// Empty: no limit.
[[nodiscard]] std::optional<std::uint64_t> address_space_left();

}  // namespace memsweep::sys
