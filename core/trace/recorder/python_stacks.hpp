// Puts calls of Python in the place of the frames of the interpreter's loop that evaluates them.
//
// Cost     that of walk_python(), and some ns for each call that has changed; some us for a line that is met for the
//          first time.
// Memory   512 KiB of numbers of lines, which all threads share.
// Errors   a call is left out if there is no room for its line.
// Threads  any. Not in a handler of signals.
#pragma once

#include <cstdint>

#include "core/trace/recorder/call_tree.hpp"
#include "core/trace/recorder/thread_stacks.hpp"

namespace memsweep::trace::recorder {

// False: there is no memory.
[[nodiscard]] bool prepare_python_stacks() noexcept;

// Looks at the thread's evaluations; if it may not look, there are none. Returns how many of the remembered frames are
// unchanged: from the outermost up to `depth`, those in the same evaluations with the same calls.
[[nodiscard]] std::uint32_t unchanged_evaluations(ThreadStacks& thread, std::uint32_t depth, bool may_look) noexcept;

// Puts the addresses of the remembered frames, from one of them on, into thread.walk, outermost first. Returns their
// number. Each frame's `node` becomes the number of addresses up to its own.
[[nodiscard]] std::uint32_t list_addresses(ThreadStacks& thread, CallTree& tree, std::uint64_t generation,
                                           std::uint32_t from, std::uint32_t depth) noexcept;

}  // namespace memsweep::trace::recorder
