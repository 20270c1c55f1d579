// The library that is preloaded into programs to record or count their allocations.
//
// Errors   not_supported: it is missing, or lies in a place from which the dynamic linker preloads nothing.
#pragma once

#include <string>

#include "core/base/expected.hpp"

namespace memsweep::app {

// The path of the recorder's library, beside this program or where it is installed.
[[nodiscard]] base::Expected<std::string> recorder_library();

}  // namespace memsweep::app
