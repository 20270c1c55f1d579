// When the process is about to end, lets memsweep look at the process, and forks a copy of the process. From the copy,
// memsweep learns how much memory the allocator holds and how much it gives back when asked. The process itself stays
// as it is, and does not wait for the answer. The messages are described in format/given_back.hpp.
//
// Sources  malloc_trim(3), mallinfo2(3); jemalloc(3): thread.tcache.flush, arena.<i>.purge of all arenas,
//          stats.allocated; mi_collect and mi_heap_visit_blocks of mimalloc; MallocExtension_ReleaseFreeMemory and
//          _GetNumericProperty of tcmalloc.
// Cost     a fork(2), and two stops while memsweep looks at the process.
// Errors   none is reported to the program. Its errno and signals stay as they were.
// Threads  the last thread, or any thread that ends the process.
#pragma once

namespace memsweep::trace::recorder {

void leave_copy() noexcept;

}  // namespace memsweep::trace::recorder
