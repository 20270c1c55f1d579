// The report of a fleet: bad hosts with the evidence, then matrices between hosts, then the spread of each quantity
// over the hosts. A page has a part for each bad host, or, if the fleet is small, for every host.
#pragma once

#include "core/measure/fleet.hpp"
#include "core/model/fleet.hpp"
#include "reporters/document/document.hpp"

namespace memsweep::reporters {

struct FleetReport {
    const model::Fleet* fleet{};
    measure::FleetJudgement judgement;
};

[[nodiscard]] Document document(const FleetReport& report);

}  // namespace memsweep::reporters
