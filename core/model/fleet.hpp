// The same scenario on many hosts: every host with its facts, and each quantity as a column over the hosts.
//
// A fleet keeps the medians of a host. Its repetitions stay in the host's own result, which `sources` names.
//
// Units    those of the metrics; NaN if a host has no value.
// Memory   20 bytes per host and quantity, besides the facts of the hosts.
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

// A case that is not `ok`, or (with an empty status text) a failed assertion or limit.
struct FleetProblem {
    std::string case_id;
    Status status{};
    std::string reason;
};

struct FleetHost {
    std::string name;                  // as the launcher calls it, else the host name
    std::vector<std::string> sources;  // the results it was made of
    std::vector<std::string> run_ids;
    std::string started, ended;  // UTC; `ended` empty: not yet
    std::string version;         // memsweep's, with its commit
    int exit_code{};
    bool interrupted{};
    Machine machine;
    std::map<std::string, std::string> tags;  // those of the run, and the launcher's partition
    StatusCounts counts;
    std::vector<FleetProblem> problems;
};

struct FleetMetric {
    std::string scenario, case_id, name;
    Unit unit{};
    Better better{};
    MetricClass metric_class{};
    std::vector<std::uint32_t> n;  // values, one entry per host; 0: none
    std::vector<double> median;
    std::vector<double> mad;        // within the host
    std::vector<double> low, high;  // the interval of the median, as known from the host's values
};

// A quantity from each host to each other, as link tests measure it.
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
    std::optional<std::uint64_t> expected;  // hosts that should have come
    std::vector<std::string> missing;       // those of them that did not, as far as their names are known
    std::vector<Warning> warnings;
    std::vector<FleetHost> hosts;
    std::vector<FleetMetric> metrics;
    std::vector<FleetMatrix> matrices;
};

// How many hosts did not come: named or not.
[[nodiscard]] inline std::size_t count_missing(const Fleet& fleet)
{
    const std::uint64_t expected = fleet.expected.value_or(fleet.hosts.size());
    const std::size_t there = fleet.hosts.size();
    return std::max<std::size_t>(expected > there ? expected - there : 0, fleet.missing.size());
}

}  // namespace memsweep::model
