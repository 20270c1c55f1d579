// Programs that were given on one command line, ranked by their time: how much faster the fastest ran than each other.
//
// Units    ratios of wall_time.
// Sources  the Hodges-Lehmann estimate with its 95 % interval, which a few slow repetitions do not move.
#pragma once

#include <vector>

#include "core/measure/findings.hpp"

namespace memsweep::measure {

// One finding for each program but the fastest, in the order of their times. Empty for scenarios, replays, comparisons
// of two programs, and where fewer than two have a time.
[[nodiscard]] std::vector<Finding> ranking_findings(const model::RunReport& report);

}  // namespace memsweep::measure
