// Opens the recorder's files, also in a process that may not do so any more (format/lent_file.hpp).
//
// Cost     nothing where the process may open the file itself; else some 50 us.
// Errors   a negative errno. If nobody lends, or memsweep does not answer for 5 s, it is that of the process's own try.
// Threads  any. Call with all signals blocked.
#pragma once

namespace memsweep::trace::recorder {

// `path`: of a file in the folder of the recording. `is_new`: there must be none, and it is made. The descriptor is
// close-on-exec, for reading and writing.
[[nodiscard]] long open_in_folder(const char* path, bool is_new) noexcept;

}  // namespace memsweep::trace::recorder
