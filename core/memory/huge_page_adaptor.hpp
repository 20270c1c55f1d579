// Asks the kernel for transparent huge pages in large allocations, as NumPy does in its arrays.
//
// Units    bytes.
// Sources  NumPy: MADV_HUGEPAGE for blocks of 4 MiB and more, from their first page boundary on. The advice stays with
//          the addresses: what malloc makes of them later has it too.
// Cost     a madvise per advised allocation; nothing but a comparison for others.
// Errors   those of upstream. A kernel without huge pages refuses the advice; then there are none.
// Threads  as upstream.
// Ownership  borrows upstream, which must outlive it.
#pragma once

#include "core/memory/resource.hpp"

namespace memsweep::memory {

class HugePageAdaptor final : public MemoryResource {
  public:
    HugePageAdaptor(MemoryResource& upstream, std::uint64_t from_bytes) noexcept;

    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override;
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override;
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override;

  private:
    [[nodiscard]] Allocation advised(Allocation allocation, std::size_t bytes) const noexcept;

    MemoryResource& upstream_;
    std::uint64_t from_bytes_;
    std::uint64_t page_bytes_;
};

}  // namespace memsweep::memory
