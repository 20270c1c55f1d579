// The tables of a fleet.
#pragma once

#include <vector>

#include "reporters/document/fleet.hpp"

namespace memsweep::reporters {

// A row per bad host with its strongest evidence, and a row per missing host.
[[nodiscard]] Table bad_hosts_table(const FleetReport& report);

// A row per outlier. The outlier furthest from the usual value comes first.
[[nodiscard]] Table outliers_table(const FleetReport& report);

// A row per quantity and kind of host: the distribution over hosts, and the hosts with the lowest and the highest
// value. Without `all` it has only times of operations, bandwidths, latencies, and quantities with outliers.
[[nodiscard]] Table spreads_table(const FleetReport& report, bool all);

// A row per host: its facts, and the outcome of its run.
[[nodiscard]] Table hosts_table(const FleetReport& report);

// The measurements of a host beside the usual values of its kind of host.
[[nodiscard]] Table figures_of_host(const FleetReport& report, std::size_t host);

// Tables of quantities measured from each host (rows) to each other host (columns).
[[nodiscard]] std::vector<Table> matrix_tables(const model::Fleet& fleet);

struct HostPlace {
    std::size_t host{};
    double value{};
};
// The hosts of the spread's kind that have the spread's quantity, in the fleet's order.
[[nodiscard]] std::vector<HostPlace> places_in(const FleetReport& report, const measure::Spread& spread);

[[nodiscard]] bool is_bad(const FleetReport& report, std::size_t host);
// The number of hosts that are outliers on the worse side.
[[nodiscard]] std::size_t count_outliers(const FleetReport& report, const measure::Spread& spread);
// The host's outlier on the worse side in this metric; nullptr: there is none.
[[nodiscard]] const measure::Outlier* outlier_at(const FleetReport& report, std::size_t metric, std::size_t host);

}  // namespace memsweep::reporters
