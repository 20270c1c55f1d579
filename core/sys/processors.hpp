// The processors of this machine as the kernel lists and governs them, and limits of a thread to some of them.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/expected.hpp"

namespace memsweep::sys {

// Reads the kernel's lists below /sys/devices/system: the processors and nodes that are online, the processors of a
// node, and how the clock of processors is governed. hwloc does not tell some of these. Others are for workers, which
// must not load a topology. No other source file reads there.
//
// Sources  cpu/online, node/online, node/nodeN/cpulist, cpu/cpuN/cpufreq, cpu/intel_pstate, cpu/cpufreq below
//          `root`/sys/devices/system.
// Errors   none: what is not shown is absent.
// "/sys/devices/system/cpu/cpufreq/boost", for "cpu/cpufreq/boost".
[[nodiscard]] std::string system_device_path(const std::string& name, const std::string& root = "/");

[[nodiscard]] std::optional<std::uint32_t> online_processors(const std::string& root = "/");
[[nodiscard]] std::optional<std::uint32_t> online_nodes(const std::string& root = "/");

// The processors of the node, whether or not this process may use them; empty for a node of memory alone.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> processors_of_node(std::uint32_t node,
                                                                           const std::string& root = "/");

// The governor of one processor ("": its frequency is not scaled), and the governors of all processors.
[[nodiscard]] std::string governor(std::uint32_t cpu, const std::string& root = "/");
[[nodiscard]] std::set<std::string> governors(const std::string& root = "/");

// Whether the processor may go beyond its nominal frequency, and the command that forbids it.
struct Turbo {
    bool is_on{};
    std::string command;
};
[[nodiscard]] std::optional<Turbo> turbo(const std::string& root = "/");

// The processors that this process may run on, and a limit for the calling thread that holds for a while.
//
// Sources  sched_getaffinity and sched_setaffinity of the calling thread. The destructor restores the former set. hwloc
//          binds threads by the same calls, but needs its topology for it, which a worker must not load.
// Cost     a system call if the processors change, and a migration if the thread is on none of them.
// Errors   os: the kernel refused, as for processors that a cpuset keeps from this process.
// Threads  an Affinity belongs to the thread that made it.

// The processors that the calling thread may run on; a cpuset of its control group counts.
[[nodiscard]] std::vector<std::uint32_t> allowed_cpus();

// Limits the calling thread to these processors, at least one. Returns 0, or the errno of the refusal.
[[nodiscard]] int run_on(const std::vector<std::uint32_t>& cpus);

class Affinity {
  public:
    Affinity() = default;
    Affinity(const Affinity&) = delete;
    Affinity& operator=(const Affinity&) = delete;
    ~Affinity();

    // Limits the thread to these processors from now on. Empty: to the processors of before the first call.
    [[nodiscard]] base::Expected<void> limit_to(const std::vector<std::uint32_t>& cpus);

  private:
    std::vector<std::uint32_t> before_;
    std::vector<std::uint32_t> now_;  // empty: as before
};

}  // namespace memsweep::sys
