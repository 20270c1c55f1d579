// The machine of this process, and its place among the processes that were launched with it.
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

// This machine with its fingerprint, a hash of: CPU model, cores, NUMA nodes, page size, memory rounded to 1 GiB,
// devices.
[[nodiscard]] model::Machine this_machine();

[[nodiscard]] scenarios::Surroundings surroundings(const model::Machine& machine);
[[nodiscard]] engine::Capabilities capabilities(const model::Machine& machine);

// Sources  the environment of srun(1) and sbatch(1), of Open MPI's mpirun(1) and of PMI; /proc/self/status for the
//          processors and NUMA nodes that the process may use.
[[nodiscard]] model::LaunchPlace this_placement(const std::string& host);

// What %h and %r in a path stand for. The host is SLURMD_NODENAME if it is set, else `host`. The rank is the first that
// is set of OMPI_COMM_WORLD_RANK, PMI_RANK and SLURM_PROCID, else 0.
[[nodiscard]] std::string launched_host(const std::string& host);
[[nodiscard]] std::string launched_rank();

// A result of this machine, before anything was measured.
[[nodiscard]] model::RunReport new_report(const model::Machine& machine, const std::vector<std::string>& argv,
                                          const std::map<std::string, std::string>& tags);

}  // namespace memsweep::app
