// Reads from the kernel the processors of this machine and their frequency settings, and sets the affinity of threads
// (on which processors a thread may run).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/expected.hpp"

namespace memsweep::sys {

// The functions from here to turbo() read files below /sys/devices/system: the online processors and nodes, the
// processors of a node, frequency settings. In memsweep, only processors.cpp reads these files. hwloc is not used,
// because it does not tell all of these facts, and because a worker (the measured process) must not load a topology.
//
// Sources  cpu/online, node/online, node/nodeN/cpulist, cpu/cpuN/cpufreq, cpu/intel_pstate, cpu/cpufreq below
//          `root`/sys/devices/system.
// Errors   none: the result is absent or empty if the kernel does not show the fact.

// Returns the path of one of these files: "/sys/devices/system/cpu/cpufreq/boost" for "cpu/cpufreq/boost".
[[nodiscard]] std::string system_device_path(const std::string& name, const std::string& root = "/");

// Return how many processors, or how many nodes, are online.
[[nodiscard]] std::optional<std::uint32_t> online_processors(const std::string& root = "/");
[[nodiscard]] std::optional<std::uint32_t> online_nodes(const std::string& root = "/");

// Returns the processors of a node, including those that this process may not use. An empty list: the node has no
// processors.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> processors_of_node(std::uint32_t node,
                                                                           const std::string& root = "/");

// Return the frequency governor of one processor, or the different governors of all processors. Empty: the kernel does
// not scale frequencies.
[[nodiscard]] std::string governor(std::uint32_t cpu, const std::string& root = "/");
[[nodiscard]] std::set<std::string> governors(const std::string& root = "/");

// Says whether the processors may exceed their nominal frequency.
struct Turbo {
    bool is_on{};
    std::string command;  // the shell command that switches it off
};
[[nodiscard]] std::optional<Turbo> turbo(const std::string& root = "/");

// Returns the processors on which the calling thread may run, by its affinity and by the cpuset of its control group.
// Empty: the kernel refused to tell.
[[nodiscard]] std::vector<std::uint32_t> allowed_cpus();

// Limits the calling thread to these processors. The list must not be empty. Returns 0, or the errno of the failure.
[[nodiscard]] int run_on(const std::vector<std::uint32_t>& cpus);

// Limits the thread that made this object to some processors. The destructor restores the former set of processors.
//
// Sources  sched_getaffinity(2) and sched_setaffinity(2). hwloc is not used, because a worker must not load a topology.
// Cost     a system call if the set of processors changes, and a migration if the thread runs outside the new set.
// Errors   os: the kernel refused, for example because the processors are not in the cpuset of this process.
// Threads  use an object only in the thread that made it.
class Affinity {
  public:
    Affinity() = default;
    Affinity(const Affinity&) = delete;
    Affinity& operator=(const Affinity&) = delete;
    ~Affinity();

    // Limits the thread to these processors. With an empty list, the thread may run again on the processors that it had
    // before the first call.
    [[nodiscard]] base::Expected<void> limit_to(const std::vector<std::uint32_t>& cpus);

  private:
    std::vector<std::uint32_t> before_;
    std::vector<std::uint32_t> now_;  // empty: the thread is not limited
};

}  // namespace memsweep::sys
