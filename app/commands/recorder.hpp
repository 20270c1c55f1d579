// The library that is preloaded into programs to record or count their allocations.
//
// Errors   not_supported: the library is missing, or its path has a blank or a colon, so that the dynamic linker cannot
//          preload it.
#pragma once

#include <string>

#include "core/base/expected.hpp"

namespace memsweep::app {

// Returns the path of the recorder's library, which lies next to this program or in the installation.
[[nodiscard]] base::Expected<std::string> recorder_library();

}  // namespace memsweep::app
