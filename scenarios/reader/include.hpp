// "include": the settings files a scenario builds on, found relative to the file that names them.
//
// Errors   into Diagnostics: at the path for a file that is absolute, missing, part of a cycle or one too many; inside
//          the included file for what is wrong with its text.
#pragma once

#include <string>
#include <vector>

#include "scenarios/reader/fields.hpp"
#include "scenarios/reader/sources.hpp"

namespace memsweep::scenarios {

// The top levels of all included files, the weakest first; the including file itself is not among them.
[[nodiscard]] std::vector<const Node*> included_settings(const Node& top, const std::string& path, Sources& sources,
                                                         const Reading& reading);

}  // namespace memsweep::scenarios
