// Libraries that provide malloc: finds a library, says which library this process uses, and makes a program use a given
// library.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"
#include "core/model/allocator.hpp"
#include "core/sys/child_process.hpp"

namespace memsweep::sys {

// Finds the library of an allocator on this machine. `name` is an allocator's name or a path. Returns the path to
// preload; empty: the C library's own malloc.
//
// Sources  the folders of LD_LIBRARY_PATH, then /usr/local/lib, the C library's folder and the other usual library
//          folders.
// Errors   invalid_input: the allocator is unknown or not installed (the message names the package to install), or the
//          file is no shared library.
[[nodiscard]] base::Expected<std::string> find_allocator_library(const std::string& name);

// Returns the file that contains the malloc of this process, as dladdr gives it; empty: not known.
[[nodiscard]] std::string serving_library();

// The version of the allocator of this process, as the allocator writes it: "2.36", "5.3.0-0-g54eaed1", "2.0.9",
// "gperftools 2.10".
//
// Sources  jemalloc: mallctl("version"); mimalloc: mi_version; gperftools: tc_version; else the C library's version.
[[nodiscard]] std::string allocator_version();

// Whether two paths name the same file. False if a path cannot be looked up.
[[nodiscard]] bool is_same_file(const std::string& one, const std::string& other);

// Returns the path of the C library; empty: not known.
[[nodiscard]] std::string c_library();

// The statistics that the allocator of this process prints about itself, in its own format.
//
// Sources  jemalloc: malloc_stats_print (JSON, without its tables of arenas and sizes); mimalloc: mi_stats_print_out;
//          tcmalloc: MallocExtension_GetStats; the C library: malloc_info (XML). These functions are looked up by name
//          in the running process.
// Cost     the allocator may allocate memory for its statistics, so get them after everything has been measured.
struct AllocatorStatistics {
    std::string_view format;  // json, xml or text; empty: memsweep knows no statistics of this allocator
    std::size_t length{};     // bytes written to `into`; what does not fit is left out
};

AllocatorStatistics write_allocator_statistics(std::span<char> into);

// Asks the allocator of this process to return unused memory to the system. False: the allocator has no function for
// this, or the function failed.
//
// Sources  the C library: malloc_trim(3); jemalloc: thread.tcache.flush, then arena.<all>.purge; mimalloc: mi_collect;
//          tcmalloc: MallocExtension_ReleaseFreeMemory.
// Cost     up to some tens of milliseconds for 256 MiB of small blocks.
// Threads  any. The thread caches of other threads are not flushed.
bool trim_allocator() noexcept;

// Changes `spawn` so that the program gets this allocator. Does nothing if `allocator` has no name.
//
// The program's malloc depends on `allocator` alone. Variables of our environment that concern allocators, LD_PRELOAD
// included, are not passed on. If the dynamic linker cannot load a library, it only prints a warning, so call
// serving_library() in the program to see which malloc it really has.
void put_under(const model::AllocatorSpec& allocator, SpawnOptions& spawn);

// What serving_library() returns in the program if put_under() took effect.
[[nodiscard]] std::string expected_library(const model::AllocatorSpec& allocator);

// Checks that the recorder (the library that records allocations) can be preloaded into a program. Call it before the
// program runs, because the dynamic linker gives no error.
//
// Sources  trace::preload_obstacle. If the program starts another program, as env(1) does, only the first program is
//          checked.
// Errors   not_supported, with the reason (`where` is the program).
[[nodiscard]] base::Expected<void> can_be_preloaded(const std::vector<std::string>& argv);

// Returns the path that execvp would run for `name`; empty: no folder of PATH has it. A name
// with a slash is returned unchecked.
[[nodiscard]] std::string find_program(const std::string& name);

}  // namespace memsweep::sys
