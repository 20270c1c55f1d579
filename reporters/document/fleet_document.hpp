// What a fleet says: who is bad and by what evidence, matrices between hosts, then the distributions; a page has a part
// for each host that is bad, or for every host of a small fleet.
#pragma once

#include "reporters/document/document.hpp"
#include "reporters/document/fleet_report.hpp"

namespace memsweep::reporters {

[[nodiscard]] Document document(const FleetReport& report, const Audience& audience);

}  // namespace memsweep::reporters
