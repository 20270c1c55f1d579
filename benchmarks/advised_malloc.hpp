// malloc as NumPy uses it: huge pages are advised for blocks of 4 MiB and more, from the first page boundary on.
#pragma once

#include "core/memory/malloc_resource.hpp"
#include "core/sys/page_ops.hpp"

namespace memsweep::benchmarks {

class AdvisedMalloc final : public memory::MemoryResource {
  public:
    [[nodiscard]] memory::Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return advised(malloc_.allocate(bytes, alignment), bytes);
    }
    [[nodiscard]] memory::Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return advised(malloc_.allocate_zeroed(bytes, alignment), bytes);
    }
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override
    {
        malloc_.deallocate(ptr, bytes, alignment);
    }

  private:
    static constexpr std::size_t smallest_advised_bytes = std::size_t{1} << 22;

    static memory::Allocation advised(memory::Allocation allocation, std::size_t bytes)
    {
        if (allocation.ptr != nullptr && bytes >= smallest_advised_bytes) {
            const std::uint64_t page = sys::page_size();
            const std::uint64_t skipped = page - reinterpret_cast<std::uintptr_t>(allocation.ptr) % page;
            // A kernel without huge pages refuses; then there are none, for NumPy either.
            static_cast<void>(sys::advise(static_cast<std::byte*>(allocation.ptr) + skipped, bytes - skipped,
                                          sys::Advice::huge_pages));
        }
        return allocation;
    }

    memory::MallocResource malloc_;
};

}  // namespace memsweep::benchmarks
