// The processors of this machine as the kernel lists them, their frequency settings, and the affinity of threads.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/expected.hpp"

namespace memsweep::sys {

// Files below /sys/devices/system: online processors and nodes, the processors of a node, frequency settings. In
// memsweep, only processors.cpp reads these files. hwloc is not used, because it lacks some of these facts, and because
// a worker (the measured process) must not load a topology.
//
// Sources  cpu/online, node/online, node/nodeN/cpulist, cpu/cpuN/cpufreq, cpu/intel_pstate, cpu/cpufreq below
//          `root`/sys/devices/system.
// Errors   none: a fact that the kernel does not show is absent.

// The path of such a file: "/sys/devices/system/cpu/cpufreq/boost" for "cpu/cpufreq/boost".
[[nodiscard]] std::string system_device_path(const std::string& name, const std::string& root = "/");

// How many processors and how many nodes are online.
[[nodiscard]] std::optional<std::uint32_t> online_processors(const std::string& root = "/");
[[nodiscard]] std::optional<std::uint32_t> online_nodes(const std::string& root = "/");

// The processors of a node, including those that this process may not use. An empty list: a node without processors.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> processors_of_node(std::uint32_t node,
                                                                           const std::string& root = "/");

// The frequency governor of one processor, and the governors of all processors. "": the kernel does not scale
// frequencies.
[[nodiscard]] std::string governor(std::uint32_t cpu, const std::string& root = "/");
[[nodiscard]] std::set<std::string> governors(const std::string& root = "/");

// Whether the processors may exceed their nominal frequency.
struct Turbo {
    bool is_on{};
    std::string command;  // the shell command that switches it off
};
[[nodiscard]] std::optional<Turbo> turbo(const std::string& root = "/");

// The processors on which the calling thread may run. The cpuset of its control group is taken into account.
[[nodiscard]] std::vector<std::uint32_t> allowed_cpus();

// Limits the calling thread to these processors, at least one. Returns 0, or the errno of the failure.
[[nodiscard]] int run_on(const std::vector<std::uint32_t>& cpus);

// Limits a thread to some processors. The destructor restores the former set.
//
// Sources  sched_getaffinity(2) and sched_setaffinity(2). hwloc is not used, because a worker must not load a topology.
// Cost     a system call if the set of processors changes, and a migration if the thread runs outside the new set.
// Errors   os: the kernel refused, as for processors that are not in the cpuset of this process.
// Threads  use an object only in the thread that made it.
class Affinity {
  public:
    Affinity() = default;
    Affinity(const Affinity&) = delete;
    Affinity& operator=(const Affinity&) = delete;
    ~Affinity();

    // Limits the thread to these processors. An empty list restores the processors from before the first call.
    [[nodiscard]] base::Expected<void> limit_to(const std::vector<std::uint32_t>& cpus);

  private:
    std::vector<std::uint32_t> before_;
    std::vector<std::uint32_t> now_;  // empty: the thread is not limited
};

}  // namespace memsweep::sys
