// What a process's allocator would return if it were asked at the end, as the recorder leaves it in the folder of the
// recording: <process>.0.given, one line.
//
//   malloc_trim 67108864 4096     the request, and the anonymous memory (smaps_rollup) before and after it, bytes
//   refused 11                    no copy of the process could be made: errno
//   late                          the copy was not done in time, and ended
//
// Memory   none, and no library: the recorder includes this file.
#pragma once

namespace memsweep::trace {

inline constexpr const char* given_back_ending = ".given";
inline constexpr const char* given_back_refused = "refused";
inline constexpr const char* given_back_late = "late";

}  // namespace memsweep::trace
