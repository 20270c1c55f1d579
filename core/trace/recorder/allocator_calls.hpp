// Records calls of allocators' own functions, those outside of standard C and C++. Examples are jemalloc's mallocx,
// mimalloc's mi_malloc, tcmalloc's tc_malloc, and the C library's functions under other names (__libc_malloc). Programs
// look for these names to find out which allocator they run on, so the recorder does not define them. Instead, it
// patches each program or library that calls such a function: it replaces the address of the function there by that of
// the recorder's own. Functions that no library defines are left out.
//
// Calls that an allocator makes to itself are not the program's calls, and are not recorded. For example, jemalloc's
// operator new calls aligned_alloc, and its delete calls sdallocx. Such calls go where they would go without a
// recorder.
//
// Not seen  calls from libraries that are loaded later, and calls through addresses from dlsym.
// Cost      a search through the names that each library takes from others: some 10 us per program.
// Threads   one, before the program runs; let_it_call_itself(): any.
#pragma once

#include "core/trace/recorder/loaded_object.hpp"

namespace memsweep::trace::recorder {

// Whether the object defines both malloc and operator new. Such an operator new does not call malloc.
[[nodiscard]] bool is_allocator_of_cpp(const LoadedObject& object) noexcept;
void let_it_call_itself(LoadedObject& object) noexcept;

void redirect_allocator_calls() noexcept;

}  // namespace memsweep::trace::recorder
