// The notes that processes with the recorder leave in the file "starts" (format/start_layout.hpp): which programs they
// start, and which processes are not recorded and could not leave a `.refused` link (format/recording_layout.hpp)
// either.
//
// Cost     a note takes some 2 us.
// Errors   none: without the file, or room in it, nothing is noted.
// Threads  any, once the file is mapped. Every function but map_starts may be called in a child of vfork(2) and in a
//          signal's handler.
#pragma once

#include <cstdint>

#include "core/trace/format/start_layout.hpp"

namespace memsweep::trace::recorder {

// Maps the file in the folder of the recording. A forked child keeps the mapping, whatever rights it gives up.
void map_starts(const char* folder) noexcept;

// Notes that `file` is about to be started as a program. `process`: in which process; 0 if not known yet. Returns the
// entry, or null if nothing was noted.
StartEntry* note_start(std::uint32_t process, const char* file, PreloadObstacle obstacle, char* const* words) noexcept;

// `process`: 0: the start has failed.
void settle_start(StartEntry* entry, std::uint32_t process) noexcept;

// Returns how to reach memsweep, which opens recording files for processes that no longer may (format/lent_file.hpp).
// Returns null if memsweep cannot be reached.
[[nodiscard]] const Lending* lending_memsweep() noexcept;

// Notes that this process is not recorded. `process`: its number in its own PID namespace. False: there is no file.
bool note_unrecorded(std::uint32_t process) noexcept;

}  // namespace memsweep::trace::recorder
