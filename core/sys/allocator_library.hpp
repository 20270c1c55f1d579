// Where an allocator's library lies on this machine, and who serves malloc in this process.
//
// Sources  the C library's own folder and the usual ones, LD_LIBRARY_PATH first; dladdr on the malloc in use.
// Errors   invalid_input: the library is not there, or no shared library; the message names the package to install.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/base/expected.hpp"
#include "core/model/allocator.hpp"

namespace memsweep::sys {

// The path to preload; empty for the C library's own malloc.
[[nodiscard]] base::Expected<std::string> find_allocator_library(const std::string& name);

// The file that malloc comes from.
[[nodiscard]] std::string serving_library();

// Whether two paths name one file.
[[nodiscard]] bool is_same_file(const std::string& one, const std::string& other);

// The C library itself.
[[nodiscard]] std::string c_library();

// What the allocator that serves this process says of itself, in its own words.
//
// Sources  jemalloc: malloc_stats_print (JSON, without its tables of arenas and sizes); mimalloc: mi_stats_print_out;
//          tcmalloc: MallocExtension_GetStats; the C library: malloc_info (XML). Found by name in the running process.
// Cost     the allocator may allocate for it: ask after everything has been measured.
struct AllocatorStatistics {
    std::string_view format;  // json, xml or text; empty: the library offers none that memsweep knows
    std::size_t length{};     // of what was written, cut at the end of `into`
};

AllocatorStatistics write_allocator_statistics(std::span<char> into);

// Asks this process's malloc to give back to the system what it holds idle, by its own call for that.
//
// Sources  malloc_trim(3); jemalloc's arena.<all>.purge after thread.tcache.flush; mi_collect; tcmalloc's
//          MallocExtension_ReleaseFreeMemory.
// Cost     up to some tens of milliseconds for 256 MiB of small blocks.
// Threads  any; caches of other threads stay theirs.

// False: it offers no such call.
bool trim_allocator() noexcept;

}  // namespace memsweep::sys
