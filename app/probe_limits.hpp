// A probe held against limits: each becomes an assertion of the result, and a violated one fails its case.
#pragma once

#include <vector>

#include "core/model/report.hpp"
#include "scenarios/limits_file.hpp"

namespace memsweep::app {

// A limit that speaks of no measured case is violated too, unless it is optional: what is gone is no longer healthy.
void judge(const std::vector<scenarios::ProbeLimit>& limits, model::RunReport& report);

}  // namespace memsweep::app
