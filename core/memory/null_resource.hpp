// No memory at all: addresses that must not be dereferenced, to measure what the harness itself costs.
//
// Cost     one relaxed atomic addition per allocation, nothing per deallocation.
// Memory   none. Addresses are distinct for the life of the resource but stand closer together than the sizes asked
//          for; they start at 2^52, which no Linux process has mapped, so a stray write is a segmentation fault.
// Errors   bad_request only.
#pragma once

#include <atomic>

#include "core/memory/resource.hpp"

namespace memsweep::memory {

class NullResource final : public MemoryResource {
  public:
    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override;
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override;
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override;

  private:
    std::atomic<std::uint64_t> next_{std::uint64_t{1} << 52};
};

}  // namespace memsweep::memory
