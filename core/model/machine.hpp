// The facts that a result records about its machine, about the memsweep that measured, and about the run's place among
// many processes. Also checks of the machine's properties on which numbers depend.
//
// Units    bytes and counts. Empty text and absent numbers: not known.
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
    std::optional<std::uint64_t> cgroup_memory_max;  // the tightest limit over this process, v1 or v2
    std::string cgroup_version;                      // v1, v2, hybrid, none
    std::string governor;                            // cpu0's; empty when the kernel shows none
    std::string aslr;                                // full, partial, off
    std::uint64_t swap_bytes{};
    std::string virtualisation;  // kvm, vmware, ..., none
    std::string damon;           // what DAMON does on this machine: "off", or its kdamonds' operations
    std::vector<std::string> devices;
    std::optional<std::string> topology;  // hwloc's XML; absent unless the topology was probed
    std::string fingerprint;              // covers what makes two machines comparable
};

// Recorded in every result.
struct ToolInfo {
    std::string name;
    std::string version;
    std::string commit;      // `git describe --always --dirty`, "unknown" outside a checkout
    std::string build_type;  // CMake's: Release, Debug, ...
    std::string compiler;
    std::string sanitizer;  // address, thread, fuzzer or empty
};

[[nodiscard]] ToolInfo this_tool();

// The place of a run among many processes: its node, its rank, and its share from the launcher.
struct LaunchPlace {
    std::string node;       // what the launcher calls this host; else the host name
    std::string launcher;   // slurm, mpi; empty: none
    std::string job;        // the job's number
    std::string nodes;      // all nodes of the job, as the launcher writes them: n[001-128]
    std::string partition;  // Slurm's
    std::string cpus;       // the processors this process may run on, "0-3,8"
    std::string memory_nodes;
    std::optional<std::uint32_t> rank, ranks, local_rank, local_ranks;
};

enum class Fitness : std::uint8_t { ok, note, spoils };

template <>
inline constexpr auto name_table<Fitness> = std::to_array<Named<Fitness>>({
    {Fitness::ok, "ok", "nothing to do"},
    {Fitness::note, "note", "worth knowing when you read results, or impossible to find out here"},
    {Fitness::spoils, "spoils", "can by itself move a time by more than 5 % or a working set by more than 2 %"},
});

// A number that a check measured, in addition to its value in words.
struct Figure {
    std::string name;
    Unit unit{};
    double value{};
};

// One property of a machine on which measured numbers depend.
struct MachineCheck {
    std::string name;  // kebab-case, stable
    Fitness status{Fitness::ok};
    std::string value;    // the finding in words; empty: it cannot be found out here
    std::string why;      // why it matters
    std::string command;  // a shell command that changes it; empty: there is nothing to change, or no command does
    std::vector<Figure> figures{};
};

}  // namespace memsweep::model
