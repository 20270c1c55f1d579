// The text of /proc/self/smaps_rollup as numbers.
//
// Memory   allocates nothing on success.
// Errors   invalid_input: a field is missing; `where` names file and field.
#pragma once

#include <string_view>

#include "core/base/expected.hpp"
#include "core/sys/process_probe.hpp"

namespace memsweep::sys {

// The fault counts, which are not in it, are left 0.
[[nodiscard]] base::Expected<MemorySnapshot> parse_smaps_rollup(std::string_view text) noexcept;

}  // namespace memsweep::sys
