// The standard library's memory resources, as they come: what a C++ program takes without asking for more.
//
// Sources  <memory_resource>: new_delete_resource, monotonic_buffer_resource, unsynchronized_pool_resource and
//          synchronized_pool_resource, with their default options over new and delete.
// Memory   monotonic gives nothing back before it is destroyed; the pools keep blocks up to a few MiB, and pass larger
//          ones on. None can promise zeros: zeroed memory is written.
// Errors   bad_request; out_of_memory where the library throws, which ends here.
// Threads  new_delete and synchronized: any. monotonic and unsynchronized: one at a time, see model::single_threaded.
#pragma once

#include <memory>
#include <memory_resource>

#include "core/memory/resource.hpp"
#include "core/model/specs.hpp"

namespace memsweep::memory {

class PmrResource final : public MemoryResource {
  public:
    // One of the pmr kinds.
    explicit PmrResource(model::ResourceKind kind);

    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override;
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override;
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override
    {
        resource_->deallocate(ptr, bytes, alignment);
    }

  private:
    std::unique_ptr<std::pmr::memory_resource> owned_;
    std::pmr::memory_resource* resource_;
};

}  // namespace memsweep::memory
