// How much memory a process held that can be nothing but blocks: what a recording of all of its allocations must
// account for. Of its largest working set (VmHWM) what is left without files, shared memory, the program's data, the
// stacks, and what the program and its libraries have mapped for themselves. Each of those is taken at its size, not at
// its pages, and once mapped counts for good: the figure is a lower bound, which a program that maps much hides
// entirely.
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

// `caller`: an address in who maps. What the allocator maps is made into blocks.
void note_mapping(const void* caller, std::size_t bytes, int flags) noexcept;
// Null: a stack as threads have it by default.
void note_thread(const pthread_attr_t* attributes) noexcept;
// 0: not known, or all of it is explained.
[[nodiscard]] std::uint64_t heap_pages_bytes() noexcept;

}  // namespace memsweep::trace::recorder
