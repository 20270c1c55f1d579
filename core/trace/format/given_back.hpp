// The messages between memsweep and the recorder of a traced process at the end of the process. With them, memsweep
// measures how much memory the allocator returns to the system on request (malloc_trim and the like).
//
// 1. The recorder sends tracer_call_look. memsweep stops all threads of the process and reads its page tables.
// 2. The recorder forks a copy of the process and sends tracer_call_copied with the copy's pid. The process itself runs
//    on and ends.
// 3. The copy closes its descriptors and waits for a byte from the FIFO <folder>/copy.gate. Meanwhile memsweep reads
//    the memory of the copy.
// 4. memsweep writes a byte to the FIFO. The copy asks its allocator to give memory back, writes the answer,
//    and ends.
//
// The answer is the file <process>.0.given in the folder of the recording. Its first line is one of
//
//   malloc_trim 67108864 4096     the request, then the anonymous memory (smaps_rollup) before and after it, in bytes
//   refused 11                    the copy could not be made, or could not ask its allocator; the number is the errno
//
// The second line is about the children that the process has waited for; the copy is not one of them:
//
//   children 195313 25600         their page faults, and the peak resident set of the largest child in KiB
//
// Each further line is a value that the allocator reported about itself before the request:
//
//   says stats.allocated 70336    the value's name, and the value in bytes
//
// Memory   none. The recorder includes this header, so it must not depend on any library.
#pragma once

#include <cstdint>

namespace memsweep::trace {

inline constexpr const char* given_back_ending = ".given";
inline constexpr const char* given_back_refused = "refused";
inline constexpr const char* given_back_children = "children";
inline constexpr const char* given_back_says = "says";
inline constexpr const char* copy_gate = "copy.gate";

// The recorder sends a message by queueing SIGURG with a value of 64 bits: the upper half is tracer_call_mark, the
// lower half is tracer_call_look, or tracer_call_copied plus the copy's pid.
inline constexpr std::uint32_t tracer_call_mark = 0x4D53574DU;
inline constexpr std::uint32_t tracer_call_look = 1U << 30U;
inline constexpr std::uint32_t tracer_call_copied = 2U << 30U;        // plus the copy's pid
inline constexpr std::uint32_t tracer_call_number = (1U << 30U) - 1;  // the bits of the pid

}  // namespace memsweep::trace
