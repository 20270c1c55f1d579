// How a quantity is spread over the hosts of a fleet: a mark for every host, the outliers named.
#pragma once

#include "reporters/document/chart.hpp"
#include "reporters/document/fleet_report.hpp"

namespace memsweep::reporters {

// Of more than 400 hosts those that are no outliers are thinned, both ends kept.
[[nodiscard]] Chart fleet_chart(const FleetReport& report, const measure::Spread& spread);

}  // namespace memsweep::reporters
