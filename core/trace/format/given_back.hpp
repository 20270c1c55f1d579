// The messages between memsweep and the recorder of a traced process, at the process's end.
//
// The recorder calls for a look at the process (tracer_call_look), during which all threads are stopped. Then it forks
// a copy and tells the copy's number (tracer_call_copied). The process goes on and ends. The copy closes its
// descriptors and reads from the FIFO <folder>/copy.gate. Meanwhile memsweep reads the copy's memory. When memsweep
// writes a byte to the FIFO, the copy tries the request. When the FIFO has no writer any more, the copy ends.
//
// The answer is the file <process>.0.given in the folder of the recording, in lines. The first line is one of
//
//   malloc_trim 67108864 4096     the request, and the anonymous memory (smaps_rollup) before and after it, bytes
//   refused 11                    no copy of the process could be made, or it could not be asked: errno
//
// The second line is about the process's own children up to then, without the copy:
//
//   children 195313 25600         page faults of those that it has waited for, and the peak of the largest in KiB
//
// The other lines are figures that the allocator had of itself before the request:
//
//   says stats.allocated 70336    bytes
//
// Memory   none, and no library: the recorder includes this file.
#pragma once

#include <cstdint>

namespace memsweep::trace {

inline constexpr const char* given_back_ending = ".given";
inline constexpr const char* given_back_refused = "refused";
inline constexpr const char* given_back_children = "children";
inline constexpr const char* given_back_says = "says";
inline constexpr const char* copy_gate = "copy.gate";

// SIGURG, queued with a value: the mark in its upper half, the call in the lower one.
inline constexpr std::uint32_t tracer_call_mark = 0x4D53574DU;
inline constexpr std::uint32_t tracer_call_look = 1U << 30U;
inline constexpr std::uint32_t tracer_call_copied = 2U << 30U;  // and the copy's number
inline constexpr std::uint32_t tracer_call_number = (1U << 30U) - 1;

}  // namespace memsweep::trace
