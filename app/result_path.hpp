// Where a result goes: the pattern of --out, expanded.
//
// %h  host: SLURMD_NODENAME where Slurm runs us, else the host name    %s  scenario
// %r  rank: SLURM_PROCID, OMPI_COMM_WORLD_RANK or PMI_RANK, else 0     %t  UTC, 20260131T120000Z    %%  a percent sign
#pragma once

#include <string>

#include "core/base/expected.hpp"

namespace memsweep::app {

struct PathFacts {
    std::string host;
    std::string scenario;
    std::string utc;  // 2026-01-31T12:00:00.000Z
};

// Errors   invalid_input for an unknown letter.
[[nodiscard]] base::Expected<std::string> expand_path(const std::string& pattern, const PathFacts& facts);

}  // namespace memsweep::app
