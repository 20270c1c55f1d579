// The interface of memory resources. Small resources and adaptors compose; each adaptor takes an upstream.
//
// Units    bytes; alignment is a power of two, at least 1.
// Errors   AllocStatus, in registers. There is no exception and no string: either would allocate inside the process
//          whose memory is being measured.
// Threads  a resource may be used by several threads at once, unless model::is_single_threaded names it; a block may be
//          freed by another thread.
// Ownership  deallocate takes exactly the pointer, size and alignment that allocate was given.
#pragma once

#include <cstddef>
#include <cstdint>

namespace memsweep::memory {

enum class AllocStatus : std::uint8_t {
    ok,
    out_of_memory,     // the system has none left
    over_limit,        // a limiting adaptor's bound
    injected,          // refused by a failing adaptor
    bad_request,       // an alignment or a size that no resource can serve
    no_huge_pages_2m,  // none that are reserved are free
    no_huge_pages_1g,
    lock_limit,  // RLIMIT_MEMLOCK
    no_such_node,
    shm_full,          // /dev/shm
    disk_full,         // or the folder cannot hold such files
    no_device_memory,  // an accelerator's runtime has none of this kind
    no_process,        // no thread, or no second process, can be started
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

    // Memory that reads as zeros; left untouched if the resource can promise zeros (calloc, fresh pages).
    [[nodiscard]] virtual Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept = 0;

    virtual void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept = 0;
};

[[nodiscard]] const char* describe(AllocStatus status) noexcept;

}  // namespace memsweep::memory
