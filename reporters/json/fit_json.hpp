// What capacity a trace needs, as JSON.
#pragma once

#include <string>

#include "reporters/document/fit.hpp"

namespace memsweep::reporters {

[[nodiscard]] std::string to_json(const FitReport& report);

}  // namespace memsweep::reporters
