// Runs the requested probes and returns their measurements as a result.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/console.hpp"
#include "app/commands/limit_files.hpp"
#include "core/base/expected.hpp"
#include "core/model/report.hpp"
#include "core/model/transfer.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/signals.hpp"
#include "core/sys/topology.hpp"

namespace memsweep::app {

struct ProbeCommand {
    std::vector<std::string> what;               // the names of probes; empty: all, or none if `transfers` has any
    std::vector<model::TransferSpec> transfers;  // all of them run at the same time
    std::string format;                          // empty: text on the terminal, json in a file
    std::string out;
    std::string limits;  // a limits file; empty: none
    LimitsToWrite limits_to_write;
    std::string svg;                     // the file for a drawing of the machine; empty: none
    std::string xml;                     // the file for hwloc's description of the machine; empty: none
    std::string filter;                  // a regular expression of case ids; empty: all
    std::vector<std::uint32_t> nodes;    // empty: all
    std::vector<std::uint32_t> devices;  // empty: all
    bool ballast{};                      // also run the measurement that fills all of a device's memory
    std::optional<std::uint32_t> pairs;  // how many pairs of devices to measure; absent: all
    std::optional<std::uint64_t> array_bytes;
    std::optional<std::chrono::nanoseconds> min_time;
    std::optional<std::uint32_t> samples;
    bool dump_scenario{};  // print the transfers as a scenario instead of measuring them
    // With dump_scenario: print the catalog's scenario probe_<preset> instead. Empty: print the transfers.
    std::string preset;
    std::map<std::string, std::string> tags;
};

// Says whether the probe named `what` was asked for, by its name or because all probes were asked for.
[[nodiscard]] bool asks_for(const ProbeCommand& command, std::string_view what);

// Returns the name of the command's result, such as "probe_bandwidth_latency".
[[nodiscard]] std::string probe_name(const ProbeCommand& command);

// Runs the probes.
//
// Errors   invalid_input: --nodes or --devices names a node or device that does not exist, or the topology describes
//          another machine, so that nothing can be measured.
[[nodiscard]] base::Expected<model::RunReport> probe(const ProbeCommand& command, const GlobalOptions& global,
                                                     const sys::Topology& topology, const sys::Clock& clock,
                                                     const sys::StopSignals& signals);

}  // namespace memsweep::app
