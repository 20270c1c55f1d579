// The notes that processes with the recorder leave in the file "starts" (format/start_layout.hpp): which programs they
// start, and which processes could not be recorded and can leave no link that says so.
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

// Takes an entry for the program in `file`. `process`: 0: not known yet. Null: nothing is noted.
StartEntry* note_start(std::uint32_t process, const char* file, PreloadObstacle obstacle, char* const* words) noexcept;

// `process`: 0: the start has failed.
void settle_start(StartEntry* entry, std::uint32_t process) noexcept;

// Who opens files for processes that may not; null: nobody.
[[nodiscard]] const Lending* lending_memsweep() noexcept;

// Notes that this process, which is so called in its namespace, is not recorded. False: there is no file.
bool note_unrecorded(std::uint32_t process) noexcept;

}  // namespace memsweep::trace::recorder
