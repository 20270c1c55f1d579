// What `memsweep cliffs` found, as JSON: format memsweep-cliffs, version 1.
#pragma once

#include <string>

#include "reporters/document/cliffs.hpp"

namespace memsweep::reporters {

[[nodiscard]] std::string to_json(const CliffsReport& report);

}  // namespace memsweep::reporters
