// Shared pages that nobody else maps: one memfd per allocation, given back whole on deallocation.
//
// A shared mapping keeps its contents when its page-table entries are dropped, which private memory does not: the next
// access finds the page in the page cache and takes a minor fault. That makes it the memory of a soft trim.
//
// Units    bytes; a mapping is rounded up to whole pages, which its Counters do not see.
// Sources  memfd_create(2), ftruncate(2), mmap(2), madvise(2): MADV_NOHUGEPAGE, MADV_HUGEPAGE; what huge pages shared
//          memory gets is up to /sys/kernel/mm/transparent_hugepage/shmem_enabled.
// Cost     four system calls per allocation, one per deallocation, and a fault per page at first touch; more than a
//          private page's, since the page enters the page cache too. An alignment above the page size maps twice.
// Memory   fresh pages read as zeros, so zeroed memory is left untouched. Counted as shared memory by the kernel: in
//          the resident set while it is mapped in, and in the control group until it is deallocated.
// Errors   out_of_memory also when the process has used up its mappings (vm.max_map_count) or descriptors.
#pragma once

#include "core/memory/resource.hpp"
#include "core/model/specs.hpp"

namespace memsweep::memory {

class SharedResource final : public MemoryResource {
  public:
    explicit SharedResource(model::PageKind kind) noexcept;

    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override;
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override;
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override;

  private:
    [[nodiscard]] std::size_t mapping_bytes(std::size_t bytes) const noexcept;

    model::PageKind kind_;
    std::size_t page_bytes_;
};

}  // namespace memsweep::memory
