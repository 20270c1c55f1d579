// Writes the call stacks that a recorder kept for one process image (stack_recording.hpp) into a trace.
//
// Cost     some 10 ns per node.
// Memory   the nodes of one chunk: some MiB.
// Errors   errors of reading and of `take` are passed on. A file whose header was never written has no stacks. If a
//          file is cut off, the stacks before the cut are written.
// Threads  one; the process may write meanwhile.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/expected.hpp"
#include "core/trace/format/stack_layout.hpp"
#include "core/trace/trace_file.hpp"
#include "core/trace/trace_writer.hpp"

namespace memsweep::trace {

struct KeptStacks {
    std::string taken;            // the value of the fact `stacks`; empty: there are no stacks
    std::uint64_t lost_events{};  // events that should have a stack, but have none
    int problem{};                // errno of the first loss; 0: no loss, or the table of nodes was full
    std::string python;  // the interpreter's version, and whether the stacks lack its calls; empty: no interpreter
};

// Writes chunks of kinds `modules` and `frames`, and of kind `symbols` for lines that an interpreter ran.
[[nodiscard]] base::Expected<KeptStacks> put_call_stacks(const ReadAt& read, StackImage image, const TakeBytes& take,
                                                         ChunkSealer& sealer);

}  // namespace memsweep::trace
