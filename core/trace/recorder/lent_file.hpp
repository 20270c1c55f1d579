// Opens the recorder's files. If the process can no longer open a file itself, memsweep opens the file and sends the
// descriptor (format/lent_file.hpp).
//
// Cost     nothing if the process may open the file itself; else some 50 us.
// Errors   the negative errno of the process's own attempt, or -EEXIST from memsweep. A call waits at most 5 s
//          for memsweep's answer, and then returns the process's own error.
// Threads  any. Call with all signals blocked.
#pragma once

namespace memsweep::trace::recorder {

// Opens the file at `path`, in the folder of the recording. If `is_new`, the file must not exist yet, and is created.
// Returns a close-on-exec descriptor for reading and writing.
[[nodiscard]] long open_in_folder(const char* path, bool is_new) noexcept;

}  // namespace memsweep::trace::recorder
