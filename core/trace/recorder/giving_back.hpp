// Lets memsweep look at the process before it ends, and leaves a copy of the process. memsweep asks in the copy what
// the allocator has and would give back. The process itself stays as it is, and does not wait for the answer.
// format/given_back.hpp has the messages.
//
// Sources  malloc_trim(3), mallinfo2(3); jemalloc(3): thread.tcache.flush, arena.<i>.purge of all arenas,
//          stats.allocated; mi_collect and mi_heap_visit_blocks of mimalloc; MallocExtension_ReleaseFreeMemory and
//          _GetNumericProperty of tcmalloc.
// Cost     a fork(2), and the two stops in which memsweep looks.
// Errors   none is reported to the program, whose errno and signals are left as they were.
// Threads  the last one, or any that ends the process.
#pragma once

namespace memsweep::trace::recorder {

void leave_copy() noexcept;

}  // namespace memsweep::trace::recorder
