// The interface of memory resources. Adaptors and pools are resources that get their memory from another resource,
// their upstream.
//
// Units    bytes; an alignment is a power of two, at least 1.
// Errors   an AllocStatus, returned in a register. There are no exceptions and no strings, because they would allocate
//          in the process whose memory is being measured.
// Threads  several threads may use a resource at the same time, unless model::is_single_threaded is true for it. Any
//          thread may free a block.
// Ownership  deallocate takes the pointer that allocate returned, and the size and alignment that allocate was given.
#pragma once

#include <cstddef>
#include <cstdint>

namespace memsweep::memory {

enum class AllocStatus : std::uint8_t {
    ok,
    out_of_memory,     // the system has no memory left
    over_limit,        // refused by LimitingAdaptor
    injected,          // refused by FailingAdaptor
    bad_request,       // an alignment or a size that no resource can serve
    no_huge_pages_2m,  // too few reserved huge pages are free
    no_huge_pages_1g,
    lock_limit,        // RLIMIT_MEMLOCK is exceeded
    no_such_node,      // the kernel refuses the NUMA policy
    shm_full,          // /dev/shm is full
    disk_full,         // the disk is full, or its file system does not support O_TMPFILE
    no_device_memory,  // an accelerator's runtime cannot give memory of this kind
    no_process,        // a thread or a second process cannot be started
};

struct Allocation {
    void* ptr{};
    AllocStatus status{AllocStatus::ok};
};

class MemoryResource {
  public:
    MemoryResource() = default;
    MemoryResource(const MemoryResource&) = delete;
    MemoryResource& operator=(const MemoryResource&) = delete;
    virtual ~MemoryResource() = default;

    [[nodiscard]] virtual Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept = 0;

    // Allocates memory that reads as zeros. The memory is not written if it is known to be zero already (calloc, fresh
    // pages).
    [[nodiscard]] virtual Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept = 0;

    virtual void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept = 0;
};

[[nodiscard]] const char* describe(AllocStatus status) noexcept;

}  // namespace memsweep::memory
