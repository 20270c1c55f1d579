// Numbers as machines read them.
#pragma once

#include <string>

namespace memsweep::reporters {

// The shortest decimal text that reads back to the same double, "195313", "0.1", "1e-09"; zero has no sign.
// Empty for a value that is not finite: there is no such number in JSON or CSV. Never locale-dependent.
[[nodiscard]] std::string number_text(double value);

}  // namespace memsweep::reporters
