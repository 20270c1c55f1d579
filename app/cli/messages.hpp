// What a command prints: data on stdout, everything else on stderr.
#pragma once

#include <string_view>

#include "core/base/expected.hpp"

namespace memsweep::app {

// "memsweep: error: where: message" on stderr.
void print_error(const base::Error& error);
void print_note(std::string_view message);

// Writes all of the text to stdout. Returns false when it could not: a closed pipe or a full disk behind stdout must
// not look like success.
[[nodiscard]] bool print_data(std::string_view text);

}  // namespace memsweep::app
