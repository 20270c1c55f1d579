// Who does what when: rank 0 hands out the work and gathers the results, the others follow.
//
// Own cases come first, so that they are complete whatever happens to the links. A rank that does not answer in time is
// lost: what needs it is left out, the rest goes on. A follower that hears nothing more measures its own cases all the
// same and ends.
#pragma once

#include "app/cli/command_line.hpp"
#include "app/mpi/comm.hpp"
#include "app/mpi/journal.hpp"
#include "app/mpi/mpi_options.hpp"

namespace memsweep::mpi {

// The part of this rank.
[[nodiscard]] app::ExitCode conduct(const MpiOptions& options, const Comm& comm, Journal& journal);

}  // namespace memsweep::mpi
