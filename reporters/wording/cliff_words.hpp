// Says in words why an allocator's cost jumps at a size.
#pragma once

#include <string>

#include "core/measure/cliffs.hpp"

namespace memsweep::reporters {

[[nodiscard]] std::string limit_text(measure::CliffLimit limit);
[[nodiscard]] std::string without_text(measure::LimitMoves moves);  // why no setting lifts the limit; empty: one does

}  // namespace memsweep::reporters
