// The fork and exec behind ChildProcess::spawn.
//
// Errors, Threads  as child_process.hpp says.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "core/base/expected.hpp"
#include "core/sys/child_process.hpp"

namespace memsweep::sys {

struct StartedProgram {
    pid_t pid{-1};
    UniqueFd pidfd;
};

// A child that runs its program; the caller has to reap it.
[[nodiscard]] base::Expected<StartedProgram> start_program(const SpawnOptions& options);

// All that a child needs on its way to its program, made before the fork: after it, in a process that may have had
// threads, it must not allocate or take a lock.
//
// Errors   invalid_input: an empty argv, a bad environment name or descriptor number, a NUL character.
struct Launch {
    std::vector<char*> argv;         // into the options, which must outlive this; both lists end with a null pointer
    std::vector<char*> environment;  // into variables
    std::vector<std::string> variables;
    std::vector<std::pair<int, int>> inherit;
    std::vector<int> lifted;  // for each of `inherit`, where it waits out of the way of the numbers asked for
    int first_free_fd{};      // above every number asked for
    int parent_fd{-1};        // the child's end of the socket to the parent
    pid_t parent{};
};

// parent_fd is left to the caller.
[[nodiscard]] base::Expected<Launch> prepare_launch(const SpawnOptions& options);

}  // namespace memsweep::sys
