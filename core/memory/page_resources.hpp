// Resources that map pages of their own for every allocation, and unmap all of them on deallocation: private pages,
// pages behind a fence, shared pages, and files.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <string>

#include "core/memory/resource.hpp"
#include "core/model/specs.hpp"

namespace memsweep::memory {

// The page size of the mappings that a PageResource of this kind makes.
[[nodiscard]] std::size_t page_bytes_of(model::PageKind kind) noexcept;

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

// Makes a mapping of its own per allocation, whose last byte lies against an inaccessible page. Freed memory can be
// kept inaccessible, so that every use of it traps.
//
// Sources  the method of Electric Fence; mprotect(2).
// Units    bytes. An overrun is caught from its first byte when the size is a multiple of the alignment, otherwise from
//          the next multiple on.
// Cost     two system calls to allocate, one or two to free; at least two pages of address space per allocation.
// Memory   inaccessible ranges hold no pages; at most `kept_ranges` of them stay, then the oldest goes.
// Errors   out_of_memory: the kernel refuses a mapping (vm.max_map_count, address space).
// Threads  any.
class FencedResource final : public MemoryResource {
  public:
    // With `keeps_freed`, freed memory stays mapped without access.
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
    std::mutex mutex_;  // guards what is kept
    std::deque<FencedPages> kept_;
};

// Shared pages that nobody else maps: one memfd per allocation, given back whole on deallocation.
//
// If its page-table entries are dropped, a shared mapping keeps its contents; private memory does not. The next access
// finds the page in the page cache and takes a minor fault. So this is the memory for a soft trim.
//
// Units    bytes; a mapping is rounded up to whole pages, which its Counters do not see.
// Sources  memfd_create(2), ftruncate(2), mmap(2), madvise(2): MADV_NOHUGEPAGE, MADV_HUGEPAGE;
//          /sys/kernel/mm/transparent_hugepage/shmem_enabled decides which huge pages shared memory gets.
// Cost     four system calls per allocation, one per deallocation, and a fault per page at first touch; more than a
//          private page's, since the page enters the page cache too. An alignment above the page size maps twice.
// Memory   fresh pages read as zeros, so zeroed memory is left untouched. Counted as shared memory by the kernel: in
//          the resident set while it is mapped in, and in the control group until it is deallocated.
// Errors   out_of_memory also when the process has used up its mappings (vm.max_map_count) or descriptors.
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

// Shared mappings of files, one file per allocation: in /dev/shm under a name that other processes can open, or without
// a name in a folder of the user's.
//
// Units    bytes; a file is rounded up to whole pages.
// Sources  shm_open(3), O_TMPFILE, posix_fallocate(3).
// Cost     six to eight system calls per allocation, two or three per deallocation. /dev/shm writes zeros when it
//          reserves, so its pages exist before the first touch. The touch of each still costs a minor fault.
// Memory   the file's storage is reserved before it is mapped, so a full file system refuses the allocation. Otherwise
//          a later touch would be a SIGBUS. New files read as zeros.
// Errors   shm_full, disk_full; out_of_memory: no file or no mapping can be made.
// Threads  any.
// Ownership  a name in /dev/shm lives as long as its allocation. If a process dies, its names stay: see
//          remove_shared_memory_of, and sys::remove_left_shared_memory for the names of a killed driver.
class FileResource final : public MemoryResource {
  public:
    // An empty folder: named shared memory.
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

// The name, for shm_open, of the allocation that process `pid` has mapped at `ptr`.
[[nodiscard]] std::string shared_memory_name(int pid, const void* ptr);

// Unlinks the names that an ended process left in /dev/shm. Returns how many there were.
std::size_t remove_shared_memory_of(int pid);

}  // namespace memsweep::memory
