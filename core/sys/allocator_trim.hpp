// Asks this process's malloc to give back to the system what it holds idle, by its own call for that.
//
// Sources  malloc_trim(3); jemalloc's arena.<all>.purge after thread.tcache.flush; mi_collect; tcmalloc's
//          MallocExtension_ReleaseFreeMemory.
// Cost     up to some tens of milliseconds for 256 MiB of small blocks.
// Threads  any; caches of other threads stay theirs.
#pragma once

namespace memsweep::sys {

// False: it offers no such call.
bool trim_allocator() noexcept;

}  // namespace memsweep::sys
