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

// The process's malloc with every allocation aligned, however little is asked for: what libraries give arrays that
// vector instructions read.
//
// Sources  posix_memalign.
// Cost     as malloc and its own search for an aligned place; zeroed memory is written.
// Threads  as malloc: any thread may allocate and free.
class AlignedResource final : public MemoryResource {
  public:
    // `alignment` is a power of two; requests that are stricter get what they ask for.
    explicit AlignedResource(std::size_t alignment) noexcept : alignment_{alignment} {}

    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return malloc_.allocate(bytes, stricter(alignment));
    }
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return malloc_.allocate_zeroed(bytes, stricter(alignment));
    }
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override
    {
        malloc_.deallocate(ptr, bytes, stricter(alignment));
    }

  private:
    // What is no power of two stays so, to be refused.
    [[nodiscard]] std::size_t stricter(std::size_t asked) const noexcept
    {
        return asked != 0 && asked < alignment_ && (asked & (asked - 1)) == 0 ? alignment_ : asked;
    }

    std::size_t alignment_;
    MallocResource malloc_;
};

}  // namespace memsweep::memory
