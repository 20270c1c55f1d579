// Times the calls that pass through it, where they may be system calls: see CallTimes.
//
// Ownership  borrows the upstream and the times, which must outlive it.
#pragma once

#include "core/memory/call_times.hpp"
#include "core/memory/resource.hpp"

namespace memsweep::memory {

class TimingAdaptor final : public MemoryResource {
  public:
    TimingAdaptor(MemoryResource& upstream, CallTimes& times,
                  std::size_t from_bytes = CallTimes::timed_from_bytes) noexcept
        : upstream_{upstream}, times_{times}, from_bytes_{from_bytes}
    {
    }

    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override;
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override;
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override;

  private:
    MemoryResource& upstream_;
    CallTimes& times_;
    const std::size_t from_bytes_;
};

}  // namespace memsweep::memory
