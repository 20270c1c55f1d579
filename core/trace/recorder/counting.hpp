// The recorder without a log: it counts calls, bytes, and the bytes that are live.
//
// live_bytes is what the program asked for and has not freed. free(3) does not say how much a block had, and
// malloc_usable_size says what the allocator gave, not what was asked for. So each block's size is kept beside the
// heap, in a cell found by the block's address. A block belongs to one thread at a time, so its cell needs no lock. The
// program's heap stays as it is: no header, no larger request.
//
// Exact    every call of every thread is in the totals. The peak is the largest value that the one live counter of the
//          process ever had, at every single call: an interleaving of the threads that really happened. A realloc is
//          one step from the old size to the new one; it counts as one allocation.
// Fork     a child begins with zeroes and a file of its own. Its parent's blocks are counted once, where they were
//          allocated, and freeing an inherited one counts nothing. exec begins anew too.
// Cost     for a malloc and its free: 13 ns in a process with one thread, 20 ns if it has had several, because all
//          share the cache line of the live counter. Two threads that do nothing else pay 27 ns (a 2-core VM, EPYC).
// Memory   half a byte per byte of heap in use, resident; 64 MiB of addresses at least.
// Errors   if no file or address space can be had, nothing is counted. A link says why, as for recordings
//          (recording_layout.hpp).
// Threads  any.
#pragma once

#include <cstdint>

#include "core/trace/recorder/thread_log.hpp"

namespace memsweep::trace::recorder {

// Begins to count this process image, in a file of the folder. Call it once. False: it cannot be done.
[[nodiscard]] bool begin_counting(const char* folder) noexcept;

// Counts a call that has been made. A free is counted before it is made.
void count_call(Call call, std::uint64_t address, std::uint64_t size) noexcept;

// Call before a realloc: it gives the old block back, because another thread may have that address when the call
// returns. If the call fails, the block is taken again.
void count_before_realloc(std::uint64_t address) noexcept;
void count_realloc(std::uint64_t address, std::uint64_t size) noexcept;
void count_failed_realloc(std::uint64_t old_address) noexcept;

// Call in the child of fork(2). If a signal handler forked while its thread was counting, the child returns into that
// code, whose counts then go nowhere.
void count_in_forked_child() noexcept;

void count_foreign_malloc() noexcept;
void count_heap_pages(std::uint64_t bytes) noexcept;
// The file that malloc comes from behind the recorder.
void note_serving_library(const char* path) noexcept;

}  // namespace memsweep::trace::recorder
