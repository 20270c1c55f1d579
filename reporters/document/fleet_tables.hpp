// The tables of a fleet.
#pragma once

#include <vector>

#include "reporters/document/fleet.hpp"

namespace memsweep::reporters {

// Returns a table with a row per bad host, which has the host's strongest evidence, and a row per missing host.
[[nodiscard]] Table bad_hosts_table(const FleetReport& report);

// Returns a table with a row per outlier. The outlier furthest from the usual value comes first.
[[nodiscard]] Table outliers_table(const FleetReport& report);

// Returns a table with a row per quantity and kind of host: the distribution over hosts, and the hosts with the lowest
// and the highest value. Without `all` the table has only times of operations, bandwidths, latencies, and quantities
// with outliers.
[[nodiscard]] Table spreads_table(const FleetReport& report, bool all);

// Returns a table with a row per host: the host's facts, and the outcome of its run.
[[nodiscard]] Table hosts_table(const FleetReport& report);

// Returns a table of the measurements of a host, beside the usual values of hosts of its kind.
[[nodiscard]] Table figures_of_host(const FleetReport& report, std::size_t host);

// Returns the tables of quantities measured from each host (rows) to each other host (columns).
[[nodiscard]] std::vector<Table> matrix_tables(const model::Fleet& fleet);

struct HostPlace {
    std::size_t host{};
    double value{};
};
// Returns the hosts that `spread` covers, each with its value, in the fleet's order. A spread covers one quantity and
// one kind of host.
[[nodiscard]] std::vector<HostPlace> places_in(const FleetReport& report, const measure::Spread& spread);

[[nodiscard]] bool is_bad(const FleetReport& report, std::size_t host);
// Returns the number of hosts whose value is an outlier that is worse than the usual value.
[[nodiscard]] std::size_t count_outliers(const FleetReport& report, const measure::Spread& spread);
// Returns the host's outlier in this metric, if it is worse than the usual value; else nullptr.
[[nodiscard]] const measure::Outlier* outlier_at(const FleetReport& report, std::size_t metric, std::size_t host);

}  // namespace memsweep::reporters
