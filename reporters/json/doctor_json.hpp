// What `memsweep doctor` found, as JSON: format memsweep-doctor, version 1.
//
// Errors   none: text from outside is repaired to UTF-8.
#pragma once

#include <string>

#include "reporters/document/doctor.hpp"

namespace memsweep::reporters {

[[nodiscard]] std::string to_json(const Checkup& checkup);

}  // namespace memsweep::reporters
