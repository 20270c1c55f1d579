// A mapping of its own per allocation, whose last byte lies against an inaccessible page; freed memory can be kept
// inaccessible, so that every use of it traps.
//
// Sources  the method of Electric Fence; mprotect(2).
// Units    bytes. An overrun is caught from its first byte when the size is a multiple of the alignment, otherwise from
//          the next multiple on.
// Cost     two system calls to allocate, one or two to free; at least two pages of address space per allocation.
// Memory   inaccessible ranges hold no pages; at most `kept_ranges` of them stay, then the oldest goes.
// Errors   out_of_memory: the kernel refuses a mapping (vm.max_map_count, address space).
// Threads  any.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>

#include "core/memory/resource.hpp"

namespace memsweep::memory {

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
    struct Range {
        void* start{};
        std::size_t bytes{};
    };
    [[nodiscard]] Range range_of(void* ptr, std::size_t bytes) const noexcept;

    bool keeps_freed_;
    std::size_t page_bytes_;
    std::mutex mutex_;  // guards what is kept
    std::deque<Range> kept_;
};

}  // namespace memsweep::memory
