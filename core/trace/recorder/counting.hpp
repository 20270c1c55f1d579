// The recorder where it keeps no log: it counts calls and bytes, and the bytes that are live.
//
// live_bytes is what the program asked for and has not given back; free(3) does not say how much that is, and
// malloc_usable_size says what the allocator gave. So each block's size is kept beside the heap, in cells found by the
// block's address: a block belongs to one thread at a time, so that its cell needs no lock. Nothing of the program's
// heap is changed: no header, no larger request.
//
// Exact    every call of every thread is in the totals. The peak is the largest value that the one live counter of the
//          process ever had, at every single call: an interleaving of the threads that really happened. A realloc is
//          one step from the old size to the new one; it counts as one allocation.
// Fork     a child begins with zeroes, a file of its own, and none of its parent's blocks: they are counted once, where
//          they were allocated, and freeing an inherited one counts nothing. exec begins anew too.
// Cost     13 ns for a malloc and its free where a process has one thread, 20 where it has had several: the live
//          counter is then one cache line for all of them, which two that do nothing else make 27 (a 2-core VM, EPYC).
// Memory   half a byte per byte of heap in use, resident; 64 MiB of addresses at least.
// Errors   no file can be made, no address space: a link says why, as for recordings (recording_layout.hpp); nothing
//          counts.
// Threads  any.
#pragma once

#include <cstdint>

#include "core/trace/recorder/thread_log.hpp"

namespace memsweep::trace::recorder {

// Counts this process image, in a file of the folder. To be called once; false: it cannot be done.
[[nodiscard]] bool begin_counting(const char* folder) noexcept;

// Counts a call that has been made. A free is counted before it is made.
void count_call(Call call, std::uint64_t address, std::uint64_t size) noexcept;

// A realloc gives its old block back before the call, since another thread may have that address when it returns, and
// takes it again where the call fails.
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
