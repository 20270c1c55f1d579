// The call stacks that a recorder kept of one process image (stack_recording.hpp), as they stand in a trace.
//
// Cost     some 10 ns a node.
// Memory   the nodes of one chunk, some MiB.
// Errors   those of reading, and of the taker of the bytes. A file that its process has not begun has no stacks; one
//          that ends anywhere has those before.
// Threads  one; the process may write meanwhile.
#pragma once

#include <cstdint>

#include "core/base/expected.hpp"
#include "core/trace/format/stack_layout.hpp"
#include "core/trace/trace_file.hpp"
#include "core/trace/trace_writer.hpp"

namespace memsweep::trace {

struct LostStacks {
    std::uint64_t events{};
    int problem{};  // errno; 0: none, or the table was full
};

// Writes chunks of frames and of modules.
[[nodiscard]] base::Expected<LostStacks> put_call_stacks(const ReadAt& read, StackImage image, const TakeBytes& take,
                                                         ChunkSealer& sealer);

}  // namespace memsweep::trace
