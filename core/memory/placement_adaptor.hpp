// Where the pages of a mapping lie, whether they are there from the start, and whether they may leave.
//
// Units    bytes; the upstream gives every allocation whole pages of its own.
// Sources  sys::set_memory_policy; madvise(2): MADV_POPULATE_WRITE (Linux 5.14; before it, a write to each page);
//          mlock(2).
// Cost     a system call for each thing asked for, and the first touch of every page when it is to be there.
// Errors   no_such_node: mbind refuses the nodes, or a weighted interleave before Linux 6.9; lock_limit:
//          RLIMIT_MEMLOCK, for who lacks CAP_IPC_LOCK; out_of_memory: the nodes have no room. The upstream has its
//          memory back then.
// Threads  any.
// Ownership  borrows the upstream, which must outlive it.
#pragma once

#include <optional>

#include "core/memory/resource.hpp"
#include "core/model/specs.hpp"

namespace memsweep::memory {

class PlacementAdaptor final : public MemoryResource {
  public:
    struct Wishes {
        model::NumaSpec numa;
        bool populated{};
        bool locked{};
        std::size_t page_bytes{};  // of the upstream's mappings
    };
    PlacementAdaptor(MemoryResource& upstream, const Wishes& wishes) noexcept : upstream_{upstream}, wishes_{wishes} {}

    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return placed(upstream_.allocate(bytes, alignment), bytes, alignment);
    }
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return placed(upstream_.allocate_zeroed(bytes, alignment), bytes, alignment);
    }
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override
    {
        upstream_.deallocate(ptr, bytes, alignment);
    }

  private:
    [[nodiscard]] Allocation placed(Allocation made, std::size_t bytes, std::size_t alignment) noexcept;
    [[nodiscard]] AllocStatus place(void* ptr, std::size_t bytes) const noexcept;

    MemoryResource& upstream_;
    Wishes wishes_;
};

// Asks the kernel for transparent huge pages in large allocations, as NumPy does in its arrays.
//
// Units    bytes.
// Sources  NumPy: MADV_HUGEPAGE for blocks of 4 MiB and more, from their first page boundary on. The advice stays with
//          the addresses: what malloc makes of them later has it too.
// Cost     a madvise per advised allocation; nothing but a comparison for others.
// Errors   those of upstream. A kernel without huge pages refuses the advice; then there are none.
// Threads  as upstream.
// Ownership  borrows upstream, which must outlive it.
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
