// Libraries that serve malloc: finds them, says which one serves, and starts a program under one.
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

// Finds an allocator's library on this machine, and the library that serves malloc in this process.
//
// Sources  the C library's own folder and the usual ones, LD_LIBRARY_PATH first; dladdr on the malloc in use.
// Errors   invalid_input: the library is not there, or no shared library; the message names the package to install.
// The path to preload; empty for the C library's own malloc.
[[nodiscard]] base::Expected<std::string> find_allocator_library(const std::string& name);

// The file that malloc comes from.
[[nodiscard]] std::string serving_library();

// The version of the malloc that serves this process, in its own notation: "2.36", "5.3.0-0-g54eaed1", "2.0.9",
// "gperftools 2.10".
//
// Sources  jemalloc: mallctl("version"); mimalloc: mi_version; gperftools: tc_version; else the C library's own.
[[nodiscard]] std::string allocator_version();

// Whether two paths name one file.
[[nodiscard]] bool is_same_file(const std::string& one, const std::string& other);

// The C library itself.
[[nodiscard]] std::string c_library();

// The statistics of the allocator that serves this process, in its own format.
//
// Sources  jemalloc: malloc_stats_print (JSON, without its tables of arenas and sizes); mimalloc: mi_stats_print_out;
//          tcmalloc: MallocExtension_GetStats; the C library: malloc_info (XML). Found by name in the running process.
// Cost     the allocator may allocate memory for it, so ask after everything has been measured.
struct AllocatorStatistics {
    std::string_view format;  // json, xml or text; empty: the library offers none that memsweep knows
    std::size_t length{};     // bytes written, cut at the end of `into`
};

AllocatorStatistics write_allocator_statistics(std::span<char> into);

// Asks this process's malloc, by its own call for that, to return idle memory to the system.
//
// Sources  malloc_trim(3); jemalloc's arena.<all>.purge after thread.tcache.flush; mi_collect; tcmalloc's
//          MallocExtension_ReleaseFreeMemory.
// Cost     up to some tens of milliseconds for 256 MiB of small blocks.
// Threads  any; caches of other threads stay theirs.

// False: it offers no such call.
bool trim_allocator() noexcept;

// Starts a program under another malloc.
//
// The program's malloc comes from the specification alone: variables of our own environment about allocators,
// LD_PRELOAD included, are not passed on. The dynamic linker only warns of a library that it cannot load. So ask in the
// program which library really serves malloc (serving_library).

// Does nothing for a specification without a name.
void put_under(const model::AllocatorSpec& allocator, SpawnOptions& spawn);

// The answer of serving_library() in the program if put_under took effect.
[[nodiscard]] std::string expected_library(const model::AllocatorSpec& allocator);

// Whether the recorder can be preloaded into a program. This is checked before the program runs, because the dynamic
// linker says nothing.
//
// Sources  trace::preload_obstacle. Programs that env(1) and its like start are not checked: the recorder is in env(1).
// Errors   not_supported: why not (`where` is the program).
[[nodiscard]] base::Expected<void> can_be_preloaded(const std::vector<std::string>& argv);

// The program's path as execvp finds it; empty when it does not.
[[nodiscard]] std::string find_program(const std::string& name);

}  // namespace memsweep::sys
