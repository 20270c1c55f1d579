// Where among many processes a run stood: its node, its rank, and what the launcher gave it.
//
// Units    counts. Empty text and absent numbers: no launcher said so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace memsweep::model {

struct LaunchPlace {
    std::string node;       // what the launcher calls this host; else the host name
    std::string launcher;   // slurm, mpi; empty: none
    std::string job;        // its number
    std::string nodes;      // all of the job, as the launcher writes them: n[001-128]
    std::string partition;  // of Slurm
    std::string cpus;       // that this process may run on, "0-3,8"
    std::string memory_nodes;
    std::optional<std::uint32_t> rank, ranks, local_rank, local_ranks;
};

}  // namespace memsweep::model
