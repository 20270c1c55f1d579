// Makes the record of a foreign program, from the kernel's figures at its end and from the samples while it ran.
//
// Sources  wait4 for the totals; the kernel's own mark of the working set, exact for one process. The sum of several
//          processes is known only from samples.
#pragma once

#include <chrono>

#include "core/engine/command/tree_sampler.hpp"
#include "core/engine/repetition/command_record.hpp"
#include "core/sys/child_process.hpp"

namespace memsweep::engine {

// `wall`: since just before its process was made.
[[nodiscard]] CommandRecord measured_command(const sys::ExitStatus& status, std::chrono::nanoseconds wall,
                                             const TreeSampler& sampler);

}  // namespace memsweep::engine
