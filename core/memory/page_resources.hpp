// Resources that make a mapping for every allocation and unmap it on deallocation. The mapping has private pages, pages
// before an inaccessible page, shared pages, or pages of a file.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <string>

#include "core/memory/resource.hpp"
#include "core/model/specs.hpp"

namespace memsweep::memory {

// Returns the page size of the mappings that a PageResource of this kind makes.
[[nodiscard]] std::size_t page_bytes_of(model::PageKind kind) noexcept;

// Pages straight from the kernel: one private anonymous mapping per allocation.
//
// Units    bytes. Mappings are rounded up to whole pages; Counters count only the requested bytes.
// Sources  mmap(2), madvise(2): MADV_NOHUGEPAGE for small pages, MADV_HUGEPAGE for transparent huge pages. A kernel
//          without huge pages refuses both calls, which is not an error; reports then show no huge-page bytes.
// Cost     one or two system calls per allocation, one per deallocation, and a fault per page at first touch. For an
//          alignment above the page size, the mapping is made larger and then trimmed, by up to two more system calls.
// Memory   fresh pages read as zeros, so zeroed memory is left untouched. With `thp`, mappings of 2 MiB and more start
//          at a multiple of 2 MiB, so that the kernel can use huge pages.
//          Huge pages of fixed size (MAP_HUGETLB) come from the machine's reserve. Mappings are rounded up to whole
//          huge pages.
// Errors   out_of_memory also if the process has too many mappings (vm.max_map_count). no_huge_pages_2m,
//          no_huge_pages_1g: too few reserved huge pages are free.
class PageResource final : public MemoryResource {
  public:
    explicit PageResource(model::PageKind kind) noexcept;

    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override;
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return allocate(bytes, alignment);
    }
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override;

  private:
    model::PageKind kind_;
    std::size_t page_bytes_;
};

// Makes a mapping per allocation and puts the block at its end, before an inaccessible page, so that an overrun traps.
// Freed memory can be kept inaccessible, so that every use of it traps.
//
// Sources  the method of Electric Fence; mprotect(2).
// Units    bytes. If the size is a multiple of the alignment, an access to the first byte behind the block traps.
//          Otherwise accesses trap from the next multiple of the alignment on.
// Cost     two system calls to allocate, one to three to free; at least two pages of address space per allocation.
// Memory   inaccessible ranges have no resident pages. At most `kept_ranges` freed ranges are kept; when one more is
//          freed, the oldest is unmapped.
// Errors   out_of_memory: the kernel refuses a mapping (vm.max_map_count, address space). bad_request also for an
//          alignment above the page size.
// Threads  any.
class FencedResource final : public MemoryResource {
  public:
    // `keeps_freed`: freed memory stays mapped without access.
    explicit FencedResource(bool keeps_freed) noexcept;
    ~FencedResource() override;

    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override;
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return allocate(bytes, alignment);
    }
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override;

    static constexpr std::size_t kept_ranges = 16'384;

  private:
    struct FencedPages {
        void* start{};
        std::size_t bytes{};
    };
    [[nodiscard]] FencedPages range_of(void* ptr, std::size_t bytes) const noexcept;

    bool keeps_freed_;
    std::size_t page_bytes_;
    std::mutex mutex_;  // guards kept_
    std::deque<FencedPages> kept_;
};

// Shared pages that no other process maps: one memfd per allocation.
//
// If page-table entries are dropped, private memory loses its contents, but shared memory keeps them. The next access
// to a shared page is a minor fault, which finds the page in the page cache. Soft trims (model::TrimHow::soft) need
// shared memory.
//
// Units    bytes. Mappings are rounded up to whole pages; Counters count only the requested bytes.
// Sources  memfd_create(2), ftruncate(2), mmap(2), madvise(2): MADV_NOHUGEPAGE, MADV_HUGEPAGE.
//          /sys/kernel/mm/transparent_hugepage/shmem_enabled decides which huge pages shared memory gets.
// Cost     four or five system calls per allocation, one per deallocation, and a fault per page at first touch. Such a
//          fault costs more than one on private memory, because the page is also added to the page cache. An alignment
//          above the page size takes a second mmap and up to two calls of munmap.
// Memory   fresh pages read as zeros, so zeroed memory is left untouched. The kernel counts the pages as shared memory:
//          in the resident set while their page-table entries exist, in the control group until they are deallocated.
// Errors   out_of_memory also if the process has too many mappings (vm.max_map_count) or open files.
class SharedResource final : public MemoryResource {
  public:
    explicit SharedResource(model::PageKind kind) noexcept;

    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override;
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return allocate(bytes, alignment);
    }
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override;

  private:
    model::PageKind kind_;
    std::size_t page_bytes_;
};

// Shared mappings of files, one file per allocation. The file is either in /dev/shm, under a name that other processes
// can open, or it has no name and is in a folder that the user chooses.
//
// Units    bytes. Files are rounded up to whole pages.
// Sources  shm_open(3), O_TMPFILE, posix_fallocate(3).
// Cost     in /dev/shm, about nine system calls per allocation and three per deallocation; in a folder, about four and
//          one. An alignment above the page size takes up to three more. Reserving storage in /dev/shm fills its pages
//          with zeros, so the pages exist before the first touch. The first touch of each page is still a minor fault.
// Memory   storage is reserved before the file is mapped, so that a full file system refuses the allocation. If it were
//          not reserved, a later touch would raise SIGBUS. New files read as zeros.
// Errors   shm_full, disk_full; out_of_memory: a file or a mapping cannot be made.
// Threads  any.
// Ownership  a name in /dev/shm exists as long as its allocation. If a process dies, its names remain.
//          remove_shared_memory_of removes the names of one process, sys::remove_left_shared_memory those of all killed
//          memsweep runs.
class FileResource final : public MemoryResource {
  public:
    // `folder`: where the files are made; empty: named files in /dev/shm.
    explicit FileResource(std::string folder);

    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override;
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return allocate(bytes, alignment);
    }
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override;

  private:
    [[nodiscard]] Allocation map_named(std::size_t mapping, std::size_t alignment) noexcept;
    [[nodiscard]] Allocation map_nameless(std::size_t mapping, std::size_t alignment) noexcept;

    std::string folder_;
    std::size_t page_bytes_;
};

// Returns the name under which shm_open finds the allocation that process `pid` has mapped at `ptr`.
[[nodiscard]] std::string shared_memory_name(int pid, const void* ptr);

// Unlinks the names that an ended process left in /dev/shm. Returns the number of names unlinked.
std::size_t remove_shared_memory_of(int pid);

}  // namespace memsweep::memory
