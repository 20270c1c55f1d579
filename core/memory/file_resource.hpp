// Shared mappings of files, one file per allocation: in /dev/shm under a name that other processes can open, or without
// a name in a folder of the user's.
//
// Units    bytes; a file is rounded up to whole pages.
// Sources  shm_open(3), O_TMPFILE, posix_fallocate(3).
// Cost     five to seven system calls per allocation, two or three per deallocation; /dev/shm writes zeros when it
//          reserves, so its pages are there before the first touch, which then costs a minor fault each all the same.
// Memory   the file's storage is reserved before it is mapped: a file system that is full refuses the allocation, where
// a
//          later touch would be a SIGBUS. New files read as zeros.
// Errors   shm_full, disk_full; out_of_memory: no file or no mapping can be made.
// Threads  any.
// Ownership  a name in /dev/shm lives as long as its allocation; a process that dies leaves its names behind: see
//          remove_shared_memory_of.
#pragma once

#include <string>

#include "core/memory/resource.hpp"

namespace memsweep::memory {

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
    [[nodiscard]] std::size_t mapping_bytes(std::size_t bytes) const noexcept;
    [[nodiscard]] Allocation map_named(std::size_t mapping, std::size_t alignment) noexcept;
    [[nodiscard]] Allocation map_nameless(std::size_t mapping, std::size_t alignment) noexcept;

    std::string folder_;
    std::size_t page_bytes_;
};

// The name, for shm_open, of the allocation that process `pid` has mapped at `ptr`.
[[nodiscard]] std::string shared_memory_name(int pid, const void* ptr);

// Unlinks what a process that has ended left in /dev/shm. Returns how many there were.
std::size_t remove_shared_memory_of(int pid);

}  // namespace memsweep::memory
