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

// This machine and its fingerprint: a hash of the CPU model, the cores, the NUMA nodes, the page size, the memory
// rounded to 1 GiB, and the devices.
[[nodiscard]] model::Machine this_machine();

[[nodiscard]] scenarios::Surroundings surroundings(const model::Machine& machine);
[[nodiscard]] engine::Capabilities capabilities(const model::Machine& machine);

// The place that a launcher gave this process: its rank, its job, and the processors and NUMA nodes that it may use.
//
// Sources  the environment that srun(1), sbatch(1), Open MPI's mpirun(1) and PMI set; /proc/self/status for the
//          processors and NUMA nodes that the process may use.
[[nodiscard]] model::LaunchPlace this_placement(const std::string& host);

// The values of %h and %r in a path. The host is SLURMD_NODENAME if that is set, else `host`. The rank is the first set
// variable of OMPI_COMM_WORLD_RANK, PMI_RANK and SLURM_PROCID, else 0.
[[nodiscard]] std::string launched_host(const std::string& host);
[[nodiscard]] std::string launched_rank();

// An empty result for this machine.
[[nodiscard]] model::RunReport new_report(const model::Machine& machine, const std::vector<std::string>& argv,
                                          const std::map<std::string, std::string>& tags);

}  // namespace memsweep::app
