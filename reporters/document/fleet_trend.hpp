// The comparison of two runs of a fleet.
#pragma once

#include <vector>

#include "core/measure/fleet.hpp"
#include "reporters/document/document.hpp"

namespace memsweep::reporters {

struct FleetTrendReport {
    std::vector<measure::FleetTrend> trends;  // each candidate against the base
    bool only_changed{};
};

[[nodiscard]] Document document(const FleetTrendReport& report);

}  // namespace memsweep::reporters
