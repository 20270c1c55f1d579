// Where this process stands among the others that were launched with it, and where its result goes: the pattern of
// --out, expanded.
//
// %h  host: SLURMD_NODENAME where Slurm runs us, else the host name    %s  scenario
// %r  rank: SLURM_PROCID, OMPI_COMM_WORLD_RANK or PMI_RANK, else 0     %t  UTC, 20260131T120000Z    %%  a percent sign
//
// Sources  the environment of srun(1) and sbatch(1), of Open MPI's mpirun(1) and of PMI; /proc/self/status for the
//          processors and NUMA nodes that the process may use.
#pragma once

#include <optional>
#include <string>

#include "core/base/expected.hpp"
#include "core/model/machine.hpp"

namespace memsweep::app {

struct PathFacts {
    std::string host;
    std::string scenario;
    std::string utc;  // 2026-01-31T12:00:00.000Z
};

// Errors   invalid_input for an unknown letter.
[[nodiscard]] base::Expected<std::string> expand_path(const std::string& pattern, const PathFacts& facts);

[[nodiscard]] model::LaunchPlace this_placement(const std::string& host);

// Several ranks that would write one file: the letter that the pattern lacks is named. Empty: each has its own.
[[nodiscard]] std::optional<base::Error> shared_path(const std::string& pattern, const model::LaunchPlace& placement);

}  // namespace memsweep::app
