// Describes this machine, and the rank of this process among the processes that a launcher started together.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/model/report.hpp"
#include "scenarios/reader/surroundings.hpp"

namespace memsweep::engine {
struct Capabilities;
}

namespace memsweep::app {

// Returns this machine with its fingerprint: a hash of the CPU model, the cores, the NUMA nodes, the page size, the
// memory rounded to 1 GiB, and the devices.
[[nodiscard]] model::Machine this_machine();

[[nodiscard]] scenarios::Surroundings surroundings(const model::Machine& machine);
[[nodiscard]] engine::Capabilities capabilities(const model::Machine& machine);

// Returns what a launcher such as srun gave this process: its rank, its job, and the processors and NUMA nodes that it
// may use.
//
// Sources  the environment that srun(1), sbatch(1), Open MPI's mpirun(1) and PMI set; /proc/self/status for the
//          processors and NUMA nodes that the process may use.
[[nodiscard]] model::LaunchPlace this_placement(const std::string& host);

// Return the values of %h and %r in a path. The host is SLURMD_NODENAME if this variable is set, else `host`. The rank
// is the value of OMPI_COMM_WORLD_RANK, else of PMI_RANK, else of SLURM_PROCID; if none of them is set, it is 0.
[[nodiscard]] std::string launched_host(const std::string& host);
[[nodiscard]] std::string launched_rank();

// Returns a result of this machine that has no cases yet.
[[nodiscard]] model::RunReport new_report(const model::Machine& machine, const std::vector<std::string>& argv,
                                          const std::map<std::string, std::string>& tags);

}  // namespace memsweep::app
