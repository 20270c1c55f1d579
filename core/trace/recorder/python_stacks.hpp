// Calls of Python in the place of the frames of the interpreter's loop that evaluates them.
//
// Cost     that of walk_python(), and some ns for each call that is another than it was; the first time that a line is
//          met, some us.
// Memory   512 KiB of numbers of lines, which all threads share.
// Errors   a call whose line there is no room for is left out.
// Threads  any. Not in a handler of signals.
#pragma once

#include <cstdint>

#include "core/trace/recorder/call_tree.hpp"
#include "core/trace/recorder/thread_stacks.hpp"

namespace memsweep::trace::recorder {

// False: there is no memory.
[[nodiscard]] bool prepare_python_stacks() noexcept;

// Looks at the thread's evaluations; where it may not look it has none. Of the remembered frames, from the outermost up
// to `depth`, how many are in the evaluations, with the calls, that they were in.
[[nodiscard]] std::uint32_t unchanged_evaluations(ThreadStacks& thread, std::uint32_t depth, bool may_look) noexcept;

// Puts the addresses of the remembered frames from one on into thread.walk, outermost first, and returns their number.
// Each frame's `node` is how many there are up to its own.
[[nodiscard]] std::uint32_t list_addresses(ThreadStacks& thread, CallTree& tree, std::uint64_t generation,
                                           std::uint32_t from, std::uint32_t depth) noexcept;

}  // namespace memsweep::trace::recorder
