// Replaces the frames of a Python interpreter's loop by the Python calls that the loop evaluates. Remembered frames are
// those of the thread's last unwinding (thread_stacks.hpp); evaluations are explained in python_calls.hpp.
//
// Cost     that of walk_python(), plus some ns for each call that has changed; some us for a line that is met for the
//          first time.
// Memory   a table of 512 KiB, which all threads share. It caches the call tree's number of each Python line.
// Errors   a call is left out if its line cannot be added to the tree.
// Threads  any, but not in a signal handler.
#pragma once

#include <cstdint>

#include "core/trace/recorder/call_tree.hpp"
#include "core/trace/recorder/thread_stacks.hpp"

namespace memsweep::trace::recorder {

// Maps that table. False: there is no memory.
[[nodiscard]] bool prepare_python_stacks() noexcept;

// Finds the thread's current evaluations; if `may_look` is false, assumes that there are none. Returns how many of the
// `depth` outermost remembered frames are still valid. A frame is valid if it lies further out than every changed
// evaluation.
[[nodiscard]] std::uint32_t unchanged_evaluations(ThreadStacks& thread, std::uint32_t depth, bool may_look) noexcept;

// Writes the addresses of the remembered frames into thread.walk, outermost first: of those with an index of at least
// `from` and less than `depth`. Returns how many addresses it has written. Sets each frame's `node` to the number of
// addresses up to and including the frame's own.
[[nodiscard]] std::uint32_t list_addresses(ThreadStacks& thread, CallTree& tree, std::uint64_t generation,
                                           std::uint32_t from, std::uint32_t depth) noexcept;

}  // namespace memsweep::trace::recorder
