// Records calls of allocator functions that are not part of standard C or C++. Examples are jemalloc's mallocx,
// mimalloc's mi_malloc, tcmalloc's tc_malloc, and the C library's functions under other names (__libc_malloc). Programs
// look for these names to find out which allocator they run on, so the recorder does not define them. Instead, it
// patches the tables of each program or library that calls such a function: it replaces the function's address by the
// address of a function of the recorder. Functions that no library defines are left out.
//
// Calls that an allocator makes to itself are not the program's calls, and are not recorded. For example, jemalloc's
// operator new calls aligned_alloc, and its delete calls sdallocx. Such calls go where they would go without a
// recorder.
//
// Not seen  calls from libraries that are loaded later, and calls through addresses from dlsym.
// Cost      a search through the names that each library expects from other libraries: some 10 us per program.
// Threads   redirect_allocator_calls(): one, before the program runs. The other functions: any.
#pragma once

#include "core/trace/recorder/loaded_object.hpp"

namespace memsweep::trace::recorder {

// Whether the object defines both malloc and operator new. Such an operator new does not call malloc.
[[nodiscard]] bool is_allocator_of_cpp(const LoadedObject& object) noexcept;
// Patches this allocator so that its calls to itself bypass the recorder.
void let_it_call_itself(LoadedObject& object) noexcept;

// Redirects the calls of all loaded objects, as described above.
void redirect_allocator_calls() noexcept;

}  // namespace memsweep::trace::recorder
