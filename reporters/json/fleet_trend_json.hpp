// Two runs of a fleet, compared, as JSON: format memsweep-fleet-trend, version 1.
#pragma once

#include <string>

#include "reporters/document/fleet_trend.hpp"

namespace memsweep::reporters {

[[nodiscard]] std::string to_json(const FleetTrendReport& report);

}  // namespace memsweep::reporters
