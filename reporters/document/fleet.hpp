// What `report` says of a fleet: which hosts are bad and by what evidence, then matrices between hosts, then how each
// quantity is spread over the hosts. A page has a part for each host that is bad, or for every host of a small fleet.
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
