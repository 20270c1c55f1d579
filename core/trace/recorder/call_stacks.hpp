// Returns the call stack of the calling thread as one number. Frames are unwound with the call frame information of the
// program and its libraries (.eh_frame). The image's CallTree keeps equal stacks only once.
//
// If a frame belongs to the loop of a Python interpreter, the Python calls that the loop evaluates replace the frame
// (python_stacks.hpp).
//
// The rule for unwinding a frame is computed when the frame's return address is first met. It is kept in a table that
// all threads share. A thread also remembers the last stack that it unwound. The callers of a frame depend only on the
// frame's registers and on the words that unwinding reads from the stack. So if unwinding meets a remembered frame with
// the same registers, it need only check that those words are unchanged.
//
// Not seen  the callers of code that has neither frame information nor a frame pointer, and callers beyond 256 frames.
//           A stack with such callers is cut: instead of them, it has cut_address (stack_recording.hpp) as its
//           outermost address. On processors other than x86-64, unwinding uses frame pointers alone.
// Sources   unwind_rule.hpp; for the bounds of a stack: proc_pid_maps(5), sigaltstack(2), mincore(2).
// Cost      1 ns for each remembered frame that is unchanged. 10 ns for each other frame; half of this time is needed
//           to find the number of its node. Some us for an address that is met for the first time. One or two system
//           calls, too, if the thread runs on the stack of a signal handler or a coroutine.
// Memory    512 KiB of rules; for each thread 60 KiB of address space, of which only the pages in use take memory; a
//           few hundred bytes of the program's stack.
// Errors    without memory or without the file for stacks (stack_recording.hpp), there are no stacks;
//           ImageFacts::stacks_errno says why.
// Threads   any; async-signal-safe. A signal handler that interrupts this code in its own thread unwinds without the
//           remembered stack.
#pragma once

#include <cstdint>

#include "core/trace/recorder/call_tree.hpp"
#include "core/trace/recorder/found_object.hpp"

namespace memsweep::trace::recorder {

// Call this one time, before the first image begins, if stacks are to be recorded. `kept` must lie in memory that a
// forked child finds zeroed. `every`: only a sample of the allocations has stacks, and this is the average number of
// bytes from one sampled allocation to the next (byte_sampler.hpp). 0: all allocations have stacks.
void prepare_stacks(CallTree& kept, std::uint64_t every) noexcept;
// Call when an image begins, with the image's lock held. Returns 0, or a negative errno if the image cannot have
// stacks.
[[nodiscard]] long begin_stacks(const char* recording_path, std::uint32_t process) noexcept;
// `log`: the number of the calling thread's log. `size`: the bytes that this thread requests. `unsampled`: how many
// bytes the thread allocates before its next sampled block. Returns the stack's number. 0: the stack could not be kept,
// or the block is not in the sample.
[[nodiscard]] std::uint32_t call_stack(std::uint32_t log, std::uint64_t size, std::uint64_t& unsampled) noexcept;
// Call when another thread takes over a log. Discards the stack that was remembered for the log.
void forget_stack(std::uint32_t log) noexcept;
// `returns_to`: the return address of a call. Returns the number of the module that contains it (stack_recording.hpp),
// and puts the module into the file if it is new. 0: no module contains the address, or the module could not be noted.
[[nodiscard]] std::uint32_t calling_module(std::uint64_t returns_to) noexcept;
// Finds the program or library that contains this return address, notes it in the file, and returns it. Empty: none
// contains the address, or stacks are not recorded.
FoundObject note_caller(std::uint64_t returns_to) noexcept;
// Call when objects may have been unloaded.
void note_unloading() noexcept;

}  // namespace memsweep::trace::recorder
