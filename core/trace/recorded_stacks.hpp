// Puts the call stacks that a recorder kept of one process image (stack_recording.hpp) into a trace.
//
// Cost     some 10 ns a node.
// Memory   the nodes of one chunk, some MiB.
// Errors   errors of reading, and of the function that takes the bytes, are passed on. A file that its process has not
//          begun has no stacks. A file that is cut off has the stacks before the cut.
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
    std::string taken;            // as the fact `stacks` says it; empty: there are none
    std::uint64_t lost_events{};  // events that should have a stack and have none
    int problem{};                // errno of the first; 0: none is lost, or the table was full
    std::string python;           // the interpreter's version, and whether its calls are told; empty: there was none
};

// Writes chunks of frames, of modules and of the symbols of lines that an interpreter ran.
[[nodiscard]] base::Expected<KeptStacks> put_call_stacks(const ReadAt& read, StackImage image, const TakeBytes& take,
                                                         ChunkSealer& sealer);

}  // namespace memsweep::trace
