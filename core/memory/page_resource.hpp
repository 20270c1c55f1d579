// Pages straight from the kernel: one private anonymous mapping per allocation, given back whole on deallocation.
//
// Units    bytes; a mapping is rounded up to whole pages, which its Counters do not see.
// Sources  mmap(2), madvise(2): MADV_NOHUGEPAGE for small pages, MADV_HUGEPAGE for transparent huge pages; a kernel
//          without huge pages ignores both, which a report shows as no huge-page bytes.
// Cost     a system call or two per allocation, one per deallocation, and a fault per page at first touch. An
//          alignment above the page size maps more and trims it: three calls.
// Memory   fresh pages read as zeros, so zeroed memory is left untouched. With thp, 2 MiB and more starts at a
//          multiple of 2 MiB, where the kernel can use huge pages.
//          With reserved huge pages (MAP_HUGETLB) the mapping is rounded up to them and takes them from the reserve.
// Errors   out_of_memory also when the process has used up its mappings (vm.max_map_count); no_huge_pages_2m, _1g:
//          too few are reserved and free.
#pragma once

#include "core/memory/resource.hpp"
#include "core/model/specs.hpp"

namespace memsweep::memory {

// Of the mappings that such a resource makes.
[[nodiscard]] std::size_t page_bytes_of(model::PageKind kind) noexcept;

class PageResource final : public MemoryResource {
  public:
    explicit PageResource(model::PageKind kind) noexcept;

    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override;
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override;
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override;

  private:
    [[nodiscard]] std::size_t mapping_bytes(std::size_t bytes) const noexcept;
    [[nodiscard]] std::size_t mapping_alignment(std::size_t mapping, std::size_t alignment) const noexcept;
    void advise(void* ptr, std::size_t mapping) const noexcept;

    model::PageKind kind_;
    std::size_t page_bytes_;
};

}  // namespace memsweep::memory
