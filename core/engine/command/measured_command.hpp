// Makes the record of a foreign program, from the kernel's figures at its end and from the samples while it ran.
//
// Sources  wait4 for the totals; the kernel's own mark of the working set, for one process. The sum of several
//          processes is known only from samples. The mark may be some hundred KiB low, because processors count pages
//          for themselves for a while; what was resident at the end of the work was counted page by page.
#pragma once

#include <chrono>

#include "core/engine/command/tree_sampler.hpp"
#include "core/engine/repetition/command_record.hpp"
#include "core/sys/child_process.hpp"

namespace memsweep::engine {

// `wall`: since just before its process was made. `at_end`: its memory when its work was done, if that was read.
[[nodiscard]] CommandRecord measured_command(const sys::ExitStatus& status, std::chrono::nanoseconds wall,
                                             const TreeSampler& sampler, Moment at_end);

}  // namespace memsweep::engine
