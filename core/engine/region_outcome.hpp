// Reads what a repetition left in its region.
#pragma once

#include "core/engine/executor.hpp"

namespace memsweep::engine {

// Copies the measurements and turns the region's state into an ending with its reason. A region still waiting or
// running means that its worker did not get to the end: `crashed`.
void read_region(const RunRegion& region, Outcome& outcome);

}  // namespace memsweep::engine
