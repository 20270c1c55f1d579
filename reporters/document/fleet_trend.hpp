// The report that compares runs of a fleet with a base run of the same fleet.
#pragma once

#include <vector>

#include "core/measure/fleet.hpp"
#include "reporters/document/document.hpp"

namespace memsweep::reporters {

struct FleetTrendReport {
    std::vector<measure::FleetTrend> trends;  // one for each run that is compared with the base
    bool only_changed{};
};

[[nodiscard]] Document document(const FleetTrendReport& report);

}  // namespace memsweep::reporters
