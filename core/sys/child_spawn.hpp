// The fork and exec behind ChildProcess::spawn.
//
// Errors, Threads  as child_process.hpp says.
#pragma once

#include <sys/types.h>

#include "core/base/expected.hpp"
#include "core/sys/child_process.hpp"

namespace memsweep::sys {

struct StartedProgram {
    pid_t pid{-1};
    UniqueFd pidfd;
};

// A child that runs its program; the caller has to reap it.
[[nodiscard]] base::Expected<StartedProgram> start_program(const SpawnOptions& options);

}  // namespace memsweep::sys
