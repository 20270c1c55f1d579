// Makes the recorder count calls, bytes and live bytes, without writing a log.
//
// live_bytes is what the program has asked for and not freed. free(3) does not tell the size of its block, and
// malloc_usable_size tells the size that the allocator gave, not the size that was asked for. So the recorder keeps
// each block's size outside of the heap, in a cell that it finds by the block's address. A block belongs to one thread
// at a time, so its cell needs no lock. The program's heap stays as it is: blocks get no header, and requests do not
// grow.
//
// Exact    every call of every thread is in the totals. A process has one counter of live bytes; the peak is the
//          largest value that it had after any call. A realloc changes the counter in one step, by the difference
//          between the new size and the old one, and counts as one allocation.
// Fork     a child begins with all counts at zero, in a file of its own. Its parent's blocks count only in the parent:
//          if the child frees an inherited block, nothing is counted. After exec, too, all counts begin at zero, in a
//          new file.
// Cost     for a malloc and its free: 13 ns in a process with one thread. 20 ns if the process has had several threads,
//          because the live counter is then changed atomically. 27 ns for each of two threads that do nothing else,
//          because they share the counter's cache line (a 2-core VM, EPYC).
// Memory   half a byte of resident memory for each byte of heap in use; at least 64 MiB of address space.
// Errors   without a file or address space, nothing is counted. A symbolic link in the folder says why, as for
//          recordings (recording_layout.hpp).
// Threads  any.
#pragma once

#include <cstdint>

#include "core/trace/recorder/thread_log.hpp"

namespace memsweep::trace::recorder {

// Begins to count the calls of this process image, in a file of the folder. Call this only one time in a process image.
// False: nothing can be counted.
[[nodiscard]] bool begin_counting(const char* folder) noexcept;

// Counts a call. Call this after the real allocation, but before the real free.
void count_call(Call call, std::uint64_t address, std::uint64_t size) noexcept;

// Call before a realloc. Takes the old block's size out of its cell, because another thread may have a block at that
// address when realloc returns. If realloc fails, call count_failed_realloc(), which puts the size back.
void count_before_realloc(std::uint64_t address) noexcept;
void count_realloc(std::uint64_t address, std::uint64_t size) noexcept;
void count_failed_realloc(std::uint64_t old_address) noexcept;

// Call in the child of fork(2). If a signal handler forked while its thread was counting, the child goes on in the
// middle of counting. The counts of the interrupted call are then discarded.
void count_in_forked_child() noexcept;

void count_foreign_malloc() noexcept;
void count_heap_pages(std::uint64_t bytes) noexcept;
// Notes the path of the library whose malloc serves the recorder.
void note_serving_library(const char* path) noexcept;

}  // namespace memsweep::trace::recorder
