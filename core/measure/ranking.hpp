// Ranks the programs of one command line by their time. Says how much faster the fastest ran than each of the others.
//
// Units    ratios of wall_time.
// Sources  the Hodges-Lehmann estimate with its 95 % interval, which a few slow repetitions do not move.
#pragma once

#include <vector>

#include "core/measure/findings.hpp"

namespace memsweep::measure {

// One finding for each program but the fastest, in the order of their times. Empty for scenarios, replays, comparisons
// of two programs, and if fewer than two have a time.
[[nodiscard]] std::vector<Finding> ranking_findings(const model::RunReport& report);

}  // namespace memsweep::measure
