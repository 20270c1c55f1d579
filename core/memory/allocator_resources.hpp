// The allocators of the process as memory resources: malloc, posix_memalign and std::pmr. Also a resource that hands
// out addresses without memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <memory_resource>
#include <utility>

#include "core/base/barrier.hpp"
#include "core/memory/alignment.hpp"
#include "core/memory/resource.hpp"

namespace memsweep::memory {

// The malloc of the process, whichever library provides it. Most language runtimes allocate from it.
//
// Sources  malloc and calloc for alignments up to alignof(max_align_t), posix_memalign for larger ones.
// Cost     zeroed memory: calloc leaves fresh pages untouched. The C library has no calloc for larger alignments, so
//          memset writes the zeros.
// Threads  as malloc: any thread may allocate and free.
class MallocResource final : public MemoryResource {
  public:
    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override
    {
        if (!is_for_malloc_itself(bytes, alignment)) [[unlikely]] {
            return allocate_otherwise(bytes, alignment);
        }
        return granted(std::malloc(bytes));
    }
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override;
    void deallocate(void* ptr, std::size_t /*bytes*/, std::size_t /*alignment*/) noexcept override
    {
        std::free(base::hide(ptr));
    }

  private:
    // Whether malloc's alignment is sufficient. False for 0 bytes, because malloc may return a null pointer for them,
    // which would look like a refusal.
    [[nodiscard]] static bool is_for_malloc_itself(std::size_t bytes, std::size_t alignment) noexcept
    {
        const std::size_t below = alignment - 1;
        return below < alignof(std::max_align_t) && (alignment & below) == 0 && bytes - 1 < max_request_bytes / 2;
    }
    [[nodiscard]] static Allocation granted(void* ptr) noexcept
    {
        void* const hidden = base::hide(ptr);
        return hidden != nullptr ? Allocation{hidden, AllocStatus::ok}
                                 : Allocation{nullptr, AllocStatus::out_of_memory};
    }
    [[nodiscard]] static Allocation allocate_otherwise(std::size_t bytes, std::size_t alignment) noexcept;
};

// The malloc of the process with a minimum alignment for every allocation. Libraries allocate arrays in this way for
// vector instructions.
//
// Sources  posix_memalign.
// Cost     as posix_memalign; zeroed memory is written (memset).
// Threads  as malloc: any thread may allocate and free.
class AlignedResource final : public MemoryResource {
  public:
    // `alignment` is a power of two. A request for a larger alignment gets that alignment.
    explicit AlignedResource(std::size_t alignment) noexcept : alignment_{alignment} {}

    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return malloc_.allocate(bytes, stricter(alignment));
    }
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return malloc_.allocate_zeroed(bytes, stricter(alignment));
    }
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override
    {
        malloc_.deallocate(ptr, bytes, stricter(alignment));
    }

  private:
    // Returns the larger of the two alignments. An invalid `asked` is returned unchanged, so that malloc_ refuses it.
    [[nodiscard]] std::size_t stricter(std::size_t asked) const noexcept
    {
        return asked != 0 && asked < alignment_ && (asked & (asked - 1)) == 0 ? alignment_ : asked;
    }

    std::size_t alignment_;
    MallocResource malloc_;
};

// The standard library's memory resources with their default options.
//
// Sources  <memory_resource>: new_delete_resource, and three resources that get their memory from it:
//          monotonic_buffer_resource, unsynchronized_pool_resource and synchronized_pool_resource.
// Memory   monotonic frees nothing before it is destroyed. The pools keep blocks up to a few MiB and pass larger ones
//          on. None of these resources can promise zeros, so zeroed memory is written (memset).
//          Sizes are rounded up to the alignment. Without this, the pools of libstdc++ 12 would serve a request for 24
//          bytes aligned to 16 from their 24-byte blocks, every second of which is misaligned.
// Errors   bad_request; out_of_memory: the library threw std::bad_alloc, which is caught here.
// Threads  new_delete and synchronized: any. monotonic and unsynchronized: one at a time (model::is_single_threaded).
class PmrResource final : public MemoryResource {
  public:
    // nullptr selects new_delete_resource, which is not owned.
    explicit PmrResource(std::unique_ptr<std::pmr::memory_resource> resource) noexcept
        : owned_{std::move(resource)}, resource_{owned_ == nullptr ? std::pmr::new_delete_resource() : owned_.get()}
    {
    }

    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override;
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override;
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override
    {
        resource_->deallocate(ptr, round_up(bytes, alignment), alignment);
    }

  private:
    std::unique_ptr<std::pmr::memory_resource> owned_;
    std::pmr::memory_resource* resource_;
};

// Hands out addresses without memory, which must not be dereferenced. So a case on this resource measures only the cost
// of memsweep's own code.
//
// Cost     one relaxed atomic addition per allocation, nothing per deallocation.
// Memory   none. All addresses of a resource are distinct, but two addresses may be closer together than the requested
//          size. The addresses start at 2^52, where Linux maps nothing, so a stray write is a segmentation fault.
// Errors   bad_request only.
class NullResource final : public MemoryResource {
  public:
    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override
    {
        if (!is_servable(bytes, alignment)) {
            return {nullptr, AllocStatus::bad_request};
        }
        // A range of twice the alignment contains an aligned address, and the ranges of two calls do not overlap.
        const std::uint64_t address = round_up(next_.fetch_add(2 * alignment, std::memory_order_relaxed), alignment);
        // The address is only a token: nothing is read or written through it.
        return {reinterpret_cast<void*>(address), AllocStatus::ok};  // NOLINT(performance-no-int-to-ptr)
    }
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return allocate(bytes, alignment);
    }
    void deallocate(void* /*ptr*/, std::size_t /*bytes*/, std::size_t /*alignment*/) noexcept override {}

  private:
    std::atomic<std::uint64_t> next_{std::uint64_t{1} << 52};
};

}  // namespace memsweep::memory
