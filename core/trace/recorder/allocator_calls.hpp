// Records calls of the functions that allocators have beside those of C and C++. Examples are jemalloc's mallocx,
// mimalloc's mi_malloc, tcmalloc's tc_malloc, and the C library's own under other names (__libc_malloc). Programs use
// these names to find out which allocator they run on, so none is defined here. If a program or library refers to such
// a function, and it is there, its address in that program or library becomes ours.
//
// Calls that an allocator makes itself are not the program's: jemalloc's operator new calls aligned_alloc, and its
// delete calls sdallocx. Such calls go where they would go without a recorder.
//
// Not seen calls from objects that are loaded later, and calls through addresses that dlsym gave.
// Cost      a look at the names that each library takes from others: some 10 us a program.
// Threads   one: before the program runs; let_it_call_itself(): any.
#pragma once

#include "core/trace/recorder/loaded_object.hpp"

namespace memsweep::trace::recorder {

// Whether the object serves malloc, and serves new without calling malloc.
[[nodiscard]] bool is_allocator_of_cpp(const LoadedObject& object) noexcept;
void let_it_call_itself(LoadedObject& object) noexcept;

void redirect_allocator_calls() noexcept;

}  // namespace memsweep::trace::recorder
