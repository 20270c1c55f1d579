// Reads the measurements that a worker has left in its region.
#pragma once

#include "core/engine/repetition/attempt.hpp"
#include "core/engine/steps/run_region.hpp"

namespace memsweep::engine {

// Copies a repetition's measurements from its region into the attempt. Also sets the attempt's ending and reason from
// the region's state. If the state is still `waiting`, `running` or `counting`, the worker did not reach the end: the
// ending is `crashed`.
void read_region(const RunRegion& region, Attempt& attempt);

}  // namespace memsweep::engine
