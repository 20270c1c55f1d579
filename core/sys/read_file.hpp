// A whole file in a string.
//
// Errors   io: it cannot be opened or read, or is a directory; invalid_input: it is larger than allowed. `where` is the
//          path.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/expected.hpp"

namespace memsweep::sys {

// "-" is standard input. Pipes and other files without a size are read to their end, up to `max_bytes`.
[[nodiscard]] base::Expected<std::string> read_file(const std::string& path, std::uint64_t max_bytes);

}  // namespace memsweep::sys
