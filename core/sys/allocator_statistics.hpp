// What the allocator that serves this process says of itself, in its own words.
//
// Sources  jemalloc: malloc_stats_print (JSON, without its tables of arenas and sizes); mimalloc: mi_stats_print_out;
//          tcmalloc: MallocExtension_GetStats; the C library: malloc_info (XML). Found by name in the running process.
// Cost     the allocator may allocate for it: ask after everything has been measured.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace memsweep::sys {

struct AllocatorStatistics {
    std::string_view format;  // json, xml or text; empty: the library offers none that memsweep knows
    std::size_t length{};     // of what was written, cut at the end of `into`
};

AllocatorStatistics write_allocator_statistics(std::span<char> into);

}  // namespace memsweep::sys
