// `run --leaks`: finds the memory that a program leaks per operation. The program is recorded with call stacks, several
// times for each number of operations. The verdict compares the blocks that are live at the end of each run
// (core/measure/leak_growth.hpp).
//
// Cost     a recorded run for each number of operations in each round; each trace is read a single time.
// Memory   the call sites of all runs; on disk one trace at a time, in the folder for temporary files.
// Errors   invalid_input: the command does not contain the name given to --leaks, or the values are no list of whole
//          numbers; not_supported: the program cannot be recorded; os: a run failed.
#pragma once

#include "app/cli/console.hpp"
#include "app/commands/run_session.hpp"
#include "core/base/expected.hpp"

namespace memsweep::app {

// Checks that the other options can be combined with --leaks.
[[nodiscard]] base::Expected<void> check_leaks(const RunCommand& command);

[[nodiscard]] base::Expected<ExitCode> look_for_leaks(const RunCommand& command, const GlobalOptions& global,
                                                      const model::Machine& machine);

}  // namespace memsweep::app
