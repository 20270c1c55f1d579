// Makes the CommandRecord of a foreign program from two sources: the kernel's totals at the program's end, and samples
// that were taken while it ran.
//
// Sources  wait4(2) for the totals. The peak working set of one process is the kernel's high-water mark (maxrss); the
//          peak of several processes is known only from samples. The high-water mark may be some hundred KiB too low,
//          because the kernel batches its page counts per CPU. The memory at the end of the work (`at_end`) was counted
//          page by page.
#pragma once

#include <chrono>

#include "core/engine/command/tree_sampler.hpp"
#include "core/engine/repetition/command_record.hpp"
#include "core/sys/child_process.hpp"

namespace memsweep::engine {

// `wall`: the program's wall time (supervision.hpp). `at_end`: its memory at the end of its work; if that was not read,
// a Moment with a working set of 0.
[[nodiscard]] CommandRecord measured_command(const sys::ExitStatus& status, std::chrono::nanoseconds wall,
                                             const TreeSampler& sampler, Moment at_end);

}  // namespace memsweep::engine
