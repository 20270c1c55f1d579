// One scenario on many hosts: the facts of each host, and each metric as a column of one value per host.
//
// Of each metric a fleet keeps only a host's median, its scatter and the number of values. The value of each repetition
// stays in the host's own results, which FleetHost::sources lists.
//
// Units    those of the metrics; NaN if a host has no value.
// Memory   36 bytes per host and metric, and the facts of the hosts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/model/report.hpp"

namespace memsweep::model {

// A problem on a host: a case whose status is neither `ok` nor `skipped`, or a failed assertion or limit.
struct FleetProblem {
    std::string case_id;
    Status status{};
    std::string reason;
};

struct FleetHost {
    std::string name;                  // the launcher's name for it, else the host name
    std::vector<std::string> sources;  // the results that were read for this host
    std::vector<std::string> run_ids;
    std::string started, ended;  // UTC; `ended` is empty if the run has not ended
    std::string version;         // of memsweep, with its commit
    int exit_code{};
    bool interrupted{};
    Machine machine;
    std::map<std::string, std::string> tags;  // of the run, and the launcher's partition
    StatusCounts counts;
    std::vector<FleetProblem> problems;
};

struct FleetMetric {
    std::string scenario, case_id, name;
    Unit unit{};
    Better better{};
    MetricClass metric_class{};
    // One entry per host.
    std::vector<std::uint32_t> n;  // number of values
    std::vector<double> median;    // of the host's values
    std::vector<double> mad;       // median absolute deviation of the host's values
    // Confidence interval of the host's median; the smallest and the largest value if there are fewer than 6 values.
    std::vector<double> low, high;
};

// A quantity for each ordered pair of hosts, as link tests measure it.
struct FleetMatrix {
    std::string name;  // "link_bandwidth/pattern=uni"
    Unit unit{};
    Better better{};
    std::vector<std::string> hosts;           // rows (from) and columns (to)
    std::vector<std::vector<double>> values;  // [from][to]
};

struct Fleet {
    ToolInfo tool;
    std::string id, started, ended;
    std::vector<std::string> argv;
    int exit_code{};
    std::string scenario, description, scenario_fingerprint;
    std::optional<std::uint64_t> expected;  // number of hosts that should have delivered a result; empty: not known
    std::vector<std::string> missing;       // hosts without a result, as far as their names are known
    std::vector<Warning> warnings;
    std::vector<FleetHost> hosts;
    std::vector<FleetMetric> metrics;
    std::vector<FleetMatrix> matrices;
};

// The number of hosts without a result, whether or not their names are known.
[[nodiscard]] inline std::size_t count_missing(const Fleet& fleet)
{
    const std::uint64_t expected = fleet.expected.value_or(fleet.hosts.size());
    const std::size_t there = fleet.hosts.size();
    return std::max<std::size_t>(expected > there ? expected - there : 0, fleet.missing.size());
}

}  // namespace memsweep::model
