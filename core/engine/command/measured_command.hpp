// What a foreign program has used, by what the kernel tells of it when it has ended and by what was sampled meanwhile.
//
// Sources  wait4 for the totals; the kernel's own mark of the working set, exact for one process; a sum of several is
//          known as far as it was sampled.
#pragma once

#include <chrono>

#include "core/engine/command/tree_sampler.hpp"
#include "core/engine/repetition/command_record.hpp"
#include "core/sys/child_process.hpp"

namespace memsweep::engine {

// `wall`: from just before its process was made.
[[nodiscard]] CommandRecord measured_command(const sys::ExitStatus& status, std::chrono::nanoseconds wall,
                                             const TreeSampler& sampler);

}  // namespace memsweep::engine
