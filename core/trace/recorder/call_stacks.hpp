// Gives the call stack of the calling thread as one number. Frames are unwound with the call frame information of the
// program and its libraries (.eh_frame). The image's CallTree keeps each stack once.
//
// If a frame belongs to the loop of a Python interpreter, the Python calls that the loop evaluates replace the frame
// (python_stacks.hpp).
//
// The rule for unwinding a frame is computed once for each return address, and kept in a table that all threads share.
// A thread also remembers the last stack that it unwound. The callers of a frame depend only on the frame's registers
// and on the words that unwinding reads from the stack. So if unwinding meets a remembered frame with the same
// registers, it need only check that those words are unchanged.
//
// Not seen  the callers of code that has neither frame information nor a frame pointer, and callers beyond 256 frames.
//           There the stack is cut, and its outermost address is cut_address (stack_recording.hpp). On processors other
//           than x86-64, unwinding uses frame pointers alone.
// Sources   unwind_rule.hpp; for the bounds of a stack: proc_pid_maps(5), sigaltstack(2), mincore(2).
// Cost      1 ns for each remembered frame that is unchanged. 10 ns for each other frame, half of that to find its
//           node's number. Some us for an address that is met for the first time. On a stack other than the thread's
//           own, also a system call.
// Memory    512 KiB of rules; for each thread 60 KiB of address space, of which only the pages in use take memory; a
//           few hundred bytes of the program's stack.
// Errors    without memory or a file there are no stacks, and the image's facts say why.
// Threads   any; async-signal-safe. A signal handler that interrupts this code in its own thread unwinds without the
//           remembered stack.
#pragma once

#include <cstdint>

#include "core/trace/recorder/call_tree.hpp"
#include "core/trace/recorder/found_object.hpp"

namespace memsweep::trace::recorder {

// Call once before the first image begins, if stacks are asked for. `kept` must lie in memory that a forked child finds
// zeroed. `every`: only a sample of the allocations has stacks, and this is the average number of bytes from one
// sampled allocation to the next (byte_sampler.hpp). 0: all allocations have stacks.
void prepare_stacks(CallTree& kept, std::uint64_t every) noexcept;
// Call when an image begins, with the image's lock held. Returns 0, or a negative errno if the image cannot have
// stacks.
[[nodiscard]] long begin_stacks(const char* recording_path, std::uint32_t process) noexcept;
// `log`: the number of the calling thread's log. `size`: the bytes that it asks for. `unsampled`: the bytes before the
// next block in the thread's sample. Returns the stack's number. 0: the stack could not be kept, or the block is not in
// the sample.
[[nodiscard]] std::uint32_t call_stack(std::uint32_t log, std::uint64_t size, std::uint64_t& unsampled) noexcept;
// Call when a log becomes another thread's.
void forget_stack(std::uint32_t log) noexcept;
// `returns_to`: the return address of a call. Returns the number of the module that contains it (stack_recording.hpp),
// and puts the module into the file if it is new. 0: no module contains it, or it could not be noted.
[[nodiscard]] std::uint32_t calling_module(std::uint64_t returns_to) noexcept;
// Puts the program or library that contains this return address into the file, and returns it. Empty: there is none.
FoundObject note_caller(std::uint64_t returns_to) noexcept;
// Call when objects may have been unloaded.
void note_unloading() noexcept;

}  // namespace memsweep::trace::recorder
