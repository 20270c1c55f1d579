// Says how much memory a process held that can only be blocks. A recording of all allocations must account for it. It
// is the largest working set (VmHWM) less files, shared memory, the program's data, the stacks, and the mappings that
// the program and its libraries have made for themselves. Each of these is subtracted at its size, not at its resident
// pages, and a mapping counts for good. So the figure is a lower bound; for a program that maps much it is 0.
//
// Units    bytes.
// Sources  proc_pid_status(5).
// Cost     heap_pages_bytes(): some 50 us, once; the rest a few instructions beside a system call.
// Threads  any.
#pragma once

#include <cstddef>
#include <cstdint>

#include <pthread.h>

namespace memsweep::trace::recorder {

// `caller`: an address in the code that maps. Mappings of the allocator do not count, because they become blocks.
void note_mapping(const void* caller, std::size_t bytes, int flags) noexcept;
// Null: a thread with a stack of the default size.
void note_thread(const pthread_attr_t* attributes) noexcept;
// 0: not known, or other things explain all of the working set.
[[nodiscard]] std::uint64_t heap_pages_bytes() noexcept;

}  // namespace memsweep::trace::recorder
