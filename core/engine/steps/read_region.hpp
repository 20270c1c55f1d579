// Reads the measurements that a worker has left in its region.
#pragma once

#include "core/engine/repetition/attempt.hpp"
#include "core/engine/steps/run_region.hpp"

namespace memsweep::engine {

// Copies the measurements that a repetition left in its region, and turns the region's state into an ending with its
// reason. A region in one of the states before `finished` means that its worker did not get to the end: `crashed`.
void read_region(const RunRegion& region, Attempt& attempt);

}  // namespace memsweep::engine
