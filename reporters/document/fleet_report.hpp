// What `report` writes of a fleet: which hosts are not like the others, and how each quantity is spread over them.
#pragma once

#include <string>
#include <vector>

#include "core/measure/fleet_judgement.hpp"
#include "core/model/fleet.hpp"
#include "reporters/document/headline.hpp"
#include "reporters/document/table.hpp"

namespace memsweep::reporters {

struct FleetReport {
    const model::Fleet* fleet{};
    measure::FleetJudgement judgement;
};

[[nodiscard]] Headline headline(const FleetReport& report);
[[nodiscard]] std::string span_text(const model::Fleet& fleet);  // "4 hosts from ... to ..., 2 cores each"

// A row per bad host with its weightiest evidence; hosts that are missing have a row each.
[[nodiscard]] Table bad_hosts_table(const FleetReport& report);

// A row per outlier, the furthest out first.
[[nodiscard]] Table outliers_table(const FleetReport& report);

// A row per quantity and kind of host: its distribution, and who lies at its ends. `all`: else only times of
// operations, bandwidths, latencies, and what has outliers.
[[nodiscard]] Table spreads_table(const FleetReport& report, bool all);

// A row per host: what it is, and how its run went.
[[nodiscard]] Table hosts_table(const FleetReport& report);

// From each host (rows) to each other.
[[nodiscard]] std::vector<Table> matrix_tables(const model::Fleet& fleet);

}  // namespace memsweep::reporters
