// The process's malloc, whichever library provides it: what most runtimes allocate from.
//
// Sources  alignment up to alignof(max_align_t): malloc and calloc; above it: posix_memalign.
// Cost     zeroed memory at such a larger alignment is written (memset), since there is no aligned calloc; at smaller
//          ones calloc leaves fresh pages untouched.
// Threads  as malloc: any thread may allocate and free.
#pragma once

#include "core/memory/resource.hpp"

namespace memsweep::memory {

class MallocResource final : public MemoryResource {
  public:
    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override;
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override;
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override;
};

}  // namespace memsweep::memory
