// Where what ships with memsweep lies: the catalog, gate files, runtime profiles.
#pragma once

#include <string>

namespace memsweep::app {

// A file or folder as in the source tree ("configs/gates/memory.json"): in the checkout we stand in, else what was
// installed beside the executable. The relative path itself when neither is there.
[[nodiscard]] std::string shipped(const std::string& relative);

}  // namespace memsweep::app
