// What a trace holds, as JSON.
#pragma once

#include <string>

#include "core/trace/summary.hpp"

namespace memsweep::reporters {

[[nodiscard]] std::string to_json(const trace::TraceSummary& summary);

}  // namespace memsweep::reporters
