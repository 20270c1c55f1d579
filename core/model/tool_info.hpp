// Which memsweep this is: recorded in every result.
#pragma once

#include <string>

namespace memsweep::model {

struct ToolInfo {
    std::string name;
    std::string version;
    std::string commit;      // `git describe --always --dirty`, "unknown" outside a checkout
    std::string build_type;  // CMake's: Release, Debug, ...
    std::string compiler;
    std::string sanitizer;  // address, thread, fuzzer or empty
};

[[nodiscard]] ToolInfo this_tool();

}  // namespace memsweep::model
