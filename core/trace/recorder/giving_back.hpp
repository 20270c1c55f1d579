// Tries in a copy of the process what the allocator would give back if it were asked now. The process itself stays as
// it is. The answer is a file in the folder of the recording (format/given_back.hpp).
//
// Sources  malloc_trim(3); jemalloc(3): thread.tcache.flush, arena.<i>.purge of all arenas; mi_collect of mimalloc;
//          MallocExtension_ReleaseFreeMemory of tcmalloc.
// Cost     a fork(2), and what the request takes; the process waits for it, 10 s at most.
// Errors   none is reported to the program, whose errno and signals are left as they were.
// Threads  the last one: the process is about to end.
#pragma once

namespace memsweep::trace::recorder {

void try_giving_back() noexcept;

}  // namespace memsweep::trace::recorder
