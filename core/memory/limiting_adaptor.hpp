// Refuses an allocation when more than a limit would be live.
//
// Cost     a compare-and-swap per allocation, an addition per deallocation.
// Errors   over_limit; the upstream is then not asked. What the upstream refuses is passed on and takes no room.
// Threads  exact: bytes are taken before the upstream is asked and given back after it has freed, so what is live
//          upstream never exceeds the limit, whatever threads do.
// Ownership  borrows the upstream, which must outlive it.
#pragma once

#include <atomic>

#include "core/memory/resource.hpp"

namespace memsweep::memory {

class LimitingAdaptor final : public MemoryResource {
  public:
    LimitingAdaptor(MemoryResource& upstream, std::uint64_t limit_bytes) noexcept
        : upstream_{upstream}, limit_bytes_{limit_bytes}
    {
    }

    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override;
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override;
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override;

  private:
    [[nodiscard]] bool take(std::uint64_t bytes) noexcept;
    Allocation settled(Allocation allocation, std::uint64_t bytes) noexcept;

    MemoryResource& upstream_;
    std::uint64_t limit_bytes_;
    std::atomic<std::uint64_t> live_bytes_{0};
};

}  // namespace memsweep::memory
