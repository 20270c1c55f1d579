// What the kernel shows below /sys/devices/system and hwloc does not tell, or a worker asks that must load no topology:
// the lists of what is online, the processors of a node, and how the clock of processors is governed.
//
// No other file reads there.
// Sources  cpu/online, node/online, node/nodeN/cpulist, cpu/cpuN/cpufreq, cpu/intel_pstate, cpu/cpufreq below
//          `root`/sys/devices/system.
// Errors   none: what is not shown is absent.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace memsweep::sys {

// "/sys/devices/system/cpu/cpufreq/boost", for "cpu/cpufreq/boost".
[[nodiscard]] std::string system_device_path(const std::string& name, const std::string& root = "/");

[[nodiscard]] std::optional<std::uint32_t> online_processors(const std::string& root = "/");
[[nodiscard]] std::optional<std::uint32_t> online_nodes(const std::string& root = "/");

// That lie in the node, whether or not this process may use them; empty for a node of memory alone.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> processors_of_node(std::uint32_t node,
                                                                           const std::string& root = "/");

// Of one processor ("" where its frequency is not scaled), and of all of them.
[[nodiscard]] std::string governor(std::uint32_t cpu, const std::string& root = "/");
[[nodiscard]] std::set<std::string> governors(const std::string& root = "/");

// Whether the processor may go beyond its nominal frequency, and the command that forbids it.
struct Turbo {
    bool is_on{};
    std::string command;
};
[[nodiscard]] std::optional<Turbo> turbo(const std::string& root = "/");

}  // namespace memsweep::sys
