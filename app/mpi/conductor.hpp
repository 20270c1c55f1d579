// Coordinates the ranks: rank 0 (the conductor) assigns the work and collects the results; the other ranks (followers)
// obey.
//
// First each rank measures its own memory, so that these measurements are complete even if the tests of links fail. A
// rank that does not answer in time is lost: the links from and to this rank are no longer tested, but all others
// are. If a follower hears nothing from rank 0 in time, it measures its own memory (unless it already has), and then
// ends.
#pragma once

#include "app/cli/command_line.hpp"
#include "app/mpi/comm.hpp"
#include "app/mpi/journal.hpp"
#include "app/mpi/mpi_options.hpp"

namespace memsweep::mpi {

// Does this rank's part of the work, as conductor or follower. Returns the exit code of this process.
[[nodiscard]] app::ExitCode conduct(const MpiOptions& options, const Comm& comm, Journal& journal);

}  // namespace memsweep::mpi
