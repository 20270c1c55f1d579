// What Slurm or mpirun told this process about where it stands among the others.
//
// Sources  the environment of srun(1) and sbatch(1), of Open MPI's mpirun(1) and of PMI; /proc/self/status for the
//          processors and NUMA nodes that the process may use.
#pragma once

#include <optional>
#include <string>

#include "core/base/error.hpp"
#include "core/model/launch_place.hpp"

namespace memsweep::app {

[[nodiscard]] model::LaunchPlace this_placement(const std::string& host);

// Several ranks that would write one file: the letter that the pattern lacks is named. Empty: each has its own.
[[nodiscard]] std::optional<base::Error> shared_path(const std::string& pattern, const model::LaunchPlace& placement);

}  // namespace memsweep::app
