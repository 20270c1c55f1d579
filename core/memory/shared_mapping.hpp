// A shared mapping of a whole file at an aligned address.
//
// Units    bytes; `bytes` and `alignment` are multiples of the page size.
// Cost     one system call; above the alignment of a page up to four.
// Errors   a null pointer: the kernel has no addresses, or no mappings, left.
#pragma once

#include <cstddef>

namespace memsweep::memory {

[[nodiscard]] void* map_shared(int fd, std::size_t bytes, std::size_t alignment, std::size_t page_bytes) noexcept;

}  // namespace memsweep::memory
