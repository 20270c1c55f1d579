// Facts that a result records: about the machine, about the build of memsweep that measured, and about the run's node
// and rank in a job of many processes. Also checks of machine properties that influence measurements.
//
// Units    bytes and counts. An empty text or an absent number means "not known".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/metric.hpp"

namespace memsweep::model {

struct Machine {
    std::string host;
    std::string kernel;
    std::string cpu;
    std::uint32_t cores{};
    std::uint32_t numa_nodes{};
    std::uint64_t page_size{};
    std::string thp;         // always, madvise, never, or unknown
    std::string overcommit;  // heuristic, always, never
    std::uint64_t memory_bytes{};
    std::optional<std::uint64_t> cgroup_memory_max;  // the lowest limit on this process, of cgroup v1 or v2
    std::string cgroup_version;                      // v1, v2, hybrid, none
    std::string governor;                            // frequency governor of cpu0; empty if the kernel shows none
    std::string aslr;                                // full, partial, off
    std::uint64_t swap_bytes{};
    std::string virtualisation;  // kvm, vmware, ..., none
    std::string damon;           // the kernel's access monitor DAMON: "off", or the operations of its kdamond threads
    std::vector<std::string> devices;
    std::optional<std::string> topology;  // hwloc's XML; absent unless the topology was probed
    std::string fingerprint;              // hash of the facts that must be equal for two machines to be comparable
};

// The build of memsweep that measured. Every result records it.
struct ToolInfo {
    std::string name;
    std::string version;
    std::string commit;      // `git describe --always --dirty`; "unknown" if not built in a checkout
    std::string build_type;  // CMake's: Release, Debug, ...
    std::string compiler;
    std::string sanitizer;  // address, thread or fuzzer; empty: none
};

[[nodiscard]] ToolInfo this_tool();

// Where a run belongs in a job of many processes: its node, its rank, and the resources that the launcher gave it.
struct LaunchPlace {
    std::string node;          // the launcher's name for this host, else the host name
    std::string launcher;      // slurm, mpi; empty: none
    std::string job;           // the job's number
    std::string nodes;         // all nodes of the job, in the launcher's notation: n[001-128]
    std::string partition;     // Slurm's partition
    std::string cpus;          // the processors that this process may run on: "0-3,8"
    std::string memory_nodes;  // the NUMA nodes that this process may allocate from
    std::optional<std::uint32_t> rank, ranks, local_rank, local_ranks;
};

enum class Fitness : std::uint8_t { ok, note, spoils };

template <>
inline constexpr auto name_table<Fitness> = std::to_array<Named<Fitness>>({
    {Fitness::ok, "ok", "nothing to do"},
    {Fitness::note, "note", "worth knowing when you read results, or impossible to find out here"},
    {Fitness::spoils, "spoils", "can by itself move a time by more than 5 % or a working set by more than 2 %"},
});

// A number that a check measured, in addition to its finding in words.
struct Figure {
    std::string name;
    Unit unit{};
    double value{};
};

// A check of one machine property that influences measurements.
struct MachineCheck {
    std::string name;  // kebab-case, stable
    Fitness status{Fitness::ok};
    std::string value;    // the finding in words; empty: the property cannot be read on this machine
    std::string why;      // why the property matters
    std::string command;  // a shell command that improves the property; empty: none is needed, or none exists
    std::vector<Figure> figures{};
};

}  // namespace memsweep::model
