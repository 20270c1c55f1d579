// Counts exactly what passes through it; the counters may lie in memory that another process watches.
//
// Cost     as Counters: a few plain additions per call.
// Threads  bytes are added once the upstream has granted them and subtracted once it has taken them back, so while a
//          free is under way they still count as live.
// Ownership  borrows the upstream and the counters, which must outlive it.
#pragma once

#include "core/memory/counters.hpp"
#include "core/memory/resource.hpp"

namespace memsweep::memory {

class CountingAdaptor final : public MemoryResource {
  public:
    CountingAdaptor(MemoryResource& upstream, Counters& counters) noexcept : upstream_{upstream}, counters_{counters} {}

    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override;
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override;
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override;

  private:
    Allocation counted(Allocation allocation, std::size_t bytes) noexcept;

    MemoryResource& upstream_;
    Counters& counters_;
};

}  // namespace memsweep::memory
