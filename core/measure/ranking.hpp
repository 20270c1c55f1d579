// Ranks the programs of one command line by their times, and says how much faster the fastest program ran than each
// other program.
//
// Units    ratios of wall_time.
// Sources  the Hodges-Lehmann estimate with its 95 % interval. A few slow repetitions do not move the estimate.
#pragma once

#include <vector>

#include "core/measure/findings.hpp"

namespace memsweep::measure {

// Returns one finding for each program except the fastest, the faster programs first. Returns none for scenarios, for
// replays, for comparisons of two programs, and if fewer than two programs have a time.
[[nodiscard]] std::vector<Finding> ranking_findings(const model::RunReport& report);

}  // namespace memsweep::measure
