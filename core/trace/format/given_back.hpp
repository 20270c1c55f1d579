// What a process's allocator would return if it were asked at the end, as the recorder leaves it in the folder of the
// recording: <process>.0.given, two lines. The first is one of
//
//   malloc_trim 67108864 4096     the request, and the anonymous memory (smaps_rollup) before and after it, bytes
//   refused 11                    no copy of the process could be made: errno
//   late 0                        the copy was not done in time, and ended
//
// and the second has what the process's own children had done before, which the copy is not one of:
//
//   children 195313 25600         page faults of those that it has waited for, and the peak of the largest in KiB
//
// Memory   none, and no library: the recorder includes this file.
#pragma once

namespace memsweep::trace {

inline constexpr const char* given_back_ending = ".given";
inline constexpr const char* given_back_refused = "refused";
inline constexpr const char* given_back_late = "late";
inline constexpr const char* given_back_children = "children";

}  // namespace memsweep::trace
