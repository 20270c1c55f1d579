// Tells command lines that only a shell can run from those whose words can be started directly.
//
// Sources  POSIX.1-2017, Shell Command Language: 2.2 Quoting, 2.3 Token Recognition, 2.13 Pattern Matching Notation.
#pragma once

#include <string>
#include <string_view>

namespace memsweep::app {

// Returns the operator, variable or builtin for which this command line needs a shell; empty: it needs no shell.
[[nodiscard]] std::string needs_shell(std::string_view text);

}  // namespace memsweep::app
