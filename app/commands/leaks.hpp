// `run --leaks`: the memory that a program holds for each operation that it does. It is recorded with call stacks,
// several times for each number of operations, and judged by the blocks that are live then
// (core/measure/leak_growth.hpp).
//
// Cost     a recorded run for each number and round, and reading each trace once.
// Memory   one trace at a time, in the folder for temporary files; the sites of all runs.
// Errors   invalid_input: the command does not use the name of --leaks, or its values are no list of whole numbers;
//          not_supported: the program cannot be recorded; os: a run failed.
#pragma once

#include "app/cli/console.hpp"
#include "app/commands/run_session.hpp"
#include "core/base/expected.hpp"

namespace memsweep::app {

// Checks the options beside --leaks.
[[nodiscard]] base::Expected<void> check_leaks(const RunCommand& command);

[[nodiscard]] base::Expected<ExitCode> look_for_leaks(const RunCommand& command, const GlobalOptions& global,
                                                      const model::Machine& machine);

}  // namespace memsweep::app
