// Refuses every Nth allocation, to show what a program does when memory runs out halfway.
//
// Cost     one relaxed atomic addition per allocation.
// Errors   injected, on requests N, 2N, 3N, ...; the upstream is then not asked.
// Threads  over any number of threads, exactly one in N requests is refused.
// Ownership  borrows the upstream, which must outlive it.
#pragma once

#include <atomic>

#include "core/memory/resource.hpp"

namespace memsweep::memory {

class FailingAdaptor final : public MemoryResource {
  public:
    // `every` is at least 1; 1 refuses everything.
    FailingAdaptor(MemoryResource& upstream, std::uint64_t every) noexcept;

    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override;
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override;
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override;

  private:
    [[nodiscard]] bool refuses_this_one() noexcept;

    MemoryResource& upstream_;
    std::uint64_t every_;
    std::atomic<std::uint64_t> requests_{0};
};

}  // namespace memsweep::memory
