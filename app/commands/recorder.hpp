// The library that is preloaded into programs to record or count what they allocate.
//
// Errors   not_supported: it is missing, or lies where the dynamic linker preloads nothing from.
#pragma once

#include <string>

#include "core/base/expected.hpp"

namespace memsweep::app {

// The path of the recorder's library, beside this program or where it is installed.
[[nodiscard]] base::Expected<std::string> recorder_library();

}  // namespace memsweep::app
