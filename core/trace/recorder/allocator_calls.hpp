// The functions that allocators have beside the C library's and C++'s: jemalloc's mallocx, mimalloc's mi_malloc,
// tcmalloc's tc_malloc and theirs, and the C library's own under other names (__libc_malloc). Programs ask by these
// names which allocator they run on, so that none is defined here: where a program or library refers to one that is
// there, its address in that program or library becomes ours.
//
// What an allocator calls itself is not the program's: jemalloc's operator new asks aligned_alloc, and its delete asks
// sdallocx. Such calls go where they would go without a recorder.
//
// Not seen  calls of what is loaded later, and through addresses that dlsym gave: those pass by.
// Cost      a look at the names that each library takes from others: some 10 us a program.
// Threads   one: before the program runs; let_it_call_itself(): any.
#pragma once

#include "core/trace/recorder/loaded_object.hpp"

namespace memsweep::trace::recorder {

// It serves malloc, and new without asking malloc.
[[nodiscard]] bool is_allocator_of_cpp(const LoadedObject& object) noexcept;
void let_it_call_itself(LoadedObject& object) noexcept;

void redirect_allocator_calls() noexcept;

}  // namespace memsweep::trace::recorder
