// The two things a load takes from outside the scenario's text: files and environment variables.
//
// Errors   io: the file cannot be opened or read; invalid_input: it is larger than a scenario may be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/expected.hpp"

namespace memsweep::scenarios {

inline constexpr std::uint64_t max_file_bytes = 8U << 20U;

// The bytes of a file; "-" is the standard input. Stops reading at the limit, so that /dev/zero is an error and not a
// hang.
[[nodiscard]] base::Expected<std::string> read_text_file(const std::string& path);

[[nodiscard]] std::optional<std::string> process_environment(const std::string& name);

}  // namespace memsweep::scenarios
