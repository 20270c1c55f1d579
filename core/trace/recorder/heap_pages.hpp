// Computes a lower bound of the memory that a process held in malloc blocks at its peak. A complete recording must
// account for at least this much. The bound is the process's largest working set (VmHWM), minus all memory that may be
// something else: files, shared memory, the program's data, the stacks, and the mappings that the program and its
// libraries have made for themselves. For files and shared memory, the resident size is subtracted; for the other
// kinds, the full size. The size of a mapping stays subtracted after the mapping is unmapped. So for a program that
// maps much memory, the bound is 0.
//
// Units    bytes.
// Sources  proc_pid_status(5).
// Cost     heap_pages_bytes(): some 50 us. note_mapping() and note_thread(): a few instructions; the calls that they
//          note (mmap, pthread_create) make a system call anyway.
// Threads  any.
#pragma once

#include <cstddef>
#include <cstdint>

#include <pthread.h>

namespace memsweep::trace::recorder {

// Notes a mapping. `caller`: an address in the code that called mmap or mremap. The allocator's own mappings are
// ignored, because blocks are made from them.
void note_mapping(const void* caller, std::size_t bytes, int flags) noexcept;
// Notes a thread's stack. If `attributes` is null, the stack has the default size.
void note_thread(const pthread_attr_t* attributes) noexcept;
// Returns the lower bound. 0: the bound is not known, or other memory may make up the whole working set.
[[nodiscard]] std::uint64_t heap_pages_bytes() noexcept;

}  // namespace memsweep::trace::recorder
