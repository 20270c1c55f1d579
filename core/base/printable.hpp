// Text of any origin made safe for a terminal and for one line of a log.
#pragma once

#include <string>
#include <string_view>

namespace memsweep::base {

// On one line and inert: control characters, of ASCII and those of two bytes in UTF-8 (C1), and bytes that are no UTF-8
// are written as \t, \n, \r or \x1b. All other text stays as it is, a backslash too.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace memsweep::base
