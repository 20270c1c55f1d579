// `run --leaks`: what a program holds for each operation that it does. It is recorded with call stacks, several times
// for each number of operations, and judged by what is live then (core/measure/leak_growth.hpp).
//
// Cost     a recorded run for each number and round, and reading each trace once.
// Memory   one trace at a time, in the folder for temporary files; the sites of all runs.
// Errors   invalid_input: what --leaks names is not used by the program, or is no list of whole numbers; not_supported:
//          it cannot be recorded; os: a run failed.
#pragma once

#include "app/cli/console.hpp"
#include "app/commands/run_session.hpp"
#include "core/base/expected.hpp"

namespace memsweep::app {

// What goes with --leaks, and what does not.
[[nodiscard]] base::Expected<void> check_leaks(const RunCommand& command);

[[nodiscard]] base::Expected<ExitCode> look_for_leaks(const RunCommand& command, const GlobalOptions& global,
                                                      const model::Machine& machine);

}  // namespace memsweep::app
