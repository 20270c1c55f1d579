// Checks that the installed allocator knows the settings that a program will get. Three of the four known allocators
// silently ignore an unknown setting, so a misspelt setting would look like a setting without effect.
//
// Sources  glibc: `ld.so --list-tunables` (from 2.33 on). jemalloc: its messages about an invalid MALLOC_CONF.
//          mimalloc: the options that it prints if MIMALLOC_VERBOSE is set. gperftools: the names in its library file.
// Cost     one process that does nothing, or one read of the library file.
// Errors   not_supported: the allocator does not know a name, or refuses a value; os: the process for the check could
//          not be run. Without a known ld.so, glibc's names are not checked.
#pragma once

#include "core/base/expected.hpp"
#include "core/model/allocator.hpp"

namespace memsweep::sys {

// Checks the settings of `allocator`. `allocator.library` is the path of its library; empty: the C library's own
// malloc.
[[nodiscard]] base::Expected<void> check_settings_taken(const model::AllocatorSpec& allocator);

}  // namespace memsweep::sys
