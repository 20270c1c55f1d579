// Coordinates the ranks: rank 0 (the conductor) assigns the work and collects the results; the other ranks (followers)
// obey.
//
// Each rank's measurements of its own memory come first, so that they are complete even if the tests of links fail. A
// rank that does not answer in time is lost: tests that need it are skipped, all others continue. A follower that gets
// no more messages still measures its own memory and then ends.
#pragma once

#include "app/cli/command_line.hpp"
#include "app/mpi/comm.hpp"
#include "app/mpi/journal.hpp"
#include "app/mpi/mpi_options.hpp"

namespace memsweep::mpi {

// Does this rank's part, as conductor or follower.
[[nodiscard]] app::ExitCode conduct(const MpiOptions& options, const Comm& comm, Journal& journal);

}  // namespace memsweep::mpi
