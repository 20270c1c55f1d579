// Gives the call stack of the calling thread as one number. Frames are followed by the objects' own call frame
// information, and stacks are kept once each in the image's CallTree.
//
// If a frame is an interpreter's loop that evaluates calls of Python, these calls stand in its place
// (python_stacks.hpp).
//
// A rule is worked out once for each return address, and kept in a table that all threads share. A thread also
// remembers the stack that it followed last. How a stack goes on from a frame depends only on its registers and the
// words read there. So if a stack meets a remembered frame, and the words behind it are unchanged, looking at them is
// enough.
//
// Not seen  frames behind code without frame information that keeps no frame pointer, and those below 256: the stack is
//           cut there, and begins with cut_address (stack_recording.hpp). On other processors than x86-64 frames are
//           followed by their frame pointers alone.
// Sources   unwind_rule.hpp; proc_pid_maps(5), sigaltstack(2), mincore(2) for the bounds of a stack.
// Cost      some 1 ns a frame that was there before, 5 ns another, and 5 ns more for its number; some us for an address
//           that is met for the first time. On other stacks than the thread's own a system call.
// Memory    512 KiB of rules; for each thread some 60 KiB of addresses, of which it touches what it needs; a few
//           hundred bytes of the program's stack.
// Errors    without memory or a file there are no stacks; the image's facts say why.
// Threads   any; async-signal-safe. A handler that interrupts its own thread here follows its frames by itself.
#pragma once

#include <cstdint>

#include "core/trace/recorder/call_tree.hpp"
#include "core/trace/recorder/found_object.hpp"

namespace memsweep::trace::recorder {

// Call once if stacks are asked for, before the first image begins. `kept` lies in memory that a forked child finds
// zeroed. `every`: only a sample of the allocations has stacks, so many bytes apart on average (a Poisson process: a
// block of z bytes is in the sample with the probability 1 - e^(-z / every)); 0: all allocations have stacks.
void prepare_stacks(CallTree& kept, std::uint64_t every) noexcept;
// Call for an image that begins, with its lock held. A negative errno: it has no stacks.
[[nodiscard]] long begin_stacks(const char* recording_path, std::uint32_t process) noexcept;
// `log`: the number of the calling thread's log. `size`: the bytes that it asks for. `unsampled`: the bytes before the
// next block in the thread's sample. Returns 0: no stack, or the block is not in the sample.
[[nodiscard]] std::uint32_t call_stack(std::uint32_t log, std::uint64_t size, std::uint64_t& unsampled) noexcept;
// Call when a log becomes another thread's.
void forget_stack(std::uint32_t log) noexcept;
// The number of the module whose code calls and returns to this address (stack_recording.hpp); 0: it lies in none.
[[nodiscard]] std::uint32_t calling_module(std::uint64_t returns_to) noexcept;
// Puts the object whose code calls and returns to this address into the file. Returns it; empty: there is none.
FoundObject note_caller(std::uint64_t returns_to) noexcept;
// Call when objects may have been unloaded.
void note_unloading() noexcept;

}  // namespace memsweep::trace::recorder
