// Checks that the allocator installed here knows the settings that a program is to get. Three of four allocators say
// nothing of a name that they do not know. So a wrong name would look like a setting without effect.
//
// Sources  glibc: `ld.so --list-tunables` (2.33). jemalloc: what it prints about an invalid MALLOC_CONF. mimalloc: its
//          options under MIMALLOC_VERBOSE. gperftools: the names in its library.
// Cost     one process that does nothing, or one read of the library.
// Errors   not_supported: the allocator does not know a name, or refuses a value; os: it could not be asked.
#pragma once

#include "core/base/expected.hpp"
#include "core/model/allocator.hpp"

namespace memsweep::sys {

// `allocator.library`: where it lies; empty for the C library's own.
[[nodiscard]] base::Expected<void> check_settings_taken(const model::AllocatorSpec& allocator);

}  // namespace memsweep::sys
