// The allocators of a process as resources: malloc, posix_memalign and the standard library's; and a resource without
// memory.
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

// The process's malloc, whichever library provides it: what most runtimes allocate from.
//
// Sources  alignment up to alignof(max_align_t): malloc and calloc; above it: posix_memalign.
// Cost     at such a larger alignment zeroed memory is written (memset), since there is no aligned calloc; at smaller
//          alignments calloc leaves fresh pages untouched.
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
    // Whether malloc itself aligns enough. False for 0 bytes, because malloc may answer them with a null pointer, which
    // would look like a refusal.
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

// The process's malloc with every allocation aligned, however little is asked for. Libraries allocate arrays for vector
// instructions in this way.
//
// Sources  posix_memalign.
// Cost     as malloc and its own search for an aligned place; zeroed memory is written.
// Threads  as malloc: any thread may allocate and free.
class AlignedResource final : public MemoryResource {
  public:
    // `alignment` is a power of two; stricter requests get their own alignment.
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
    // The stricter alignment. A value that is no power of two stays so, to be refused.
    [[nodiscard]] std::size_t stricter(std::size_t asked) const noexcept
    {
        return asked != 0 && asked < alignment_ && (asked & (asked - 1)) == 0 ? alignment_ : asked;
    }

    std::size_t alignment_;
    MallocResource malloc_;
};

// The standard library's memory resources with their defaults, as C++ programs use them.
//
// Sources  <memory_resource>: new_delete_resource, monotonic_buffer_resource, unsynchronized_pool_resource and
//          synchronized_pool_resource, with their default options over new and delete.
// Memory   monotonic gives nothing back before it is destroyed; the pools keep blocks up to a few MiB, and pass larger
//          ones on. None can promise zeros: zeroed memory is written. Sizes are rounded up to the alignment, because
//          libstdc++ 12's pools serve 24 bytes aligned to 16 from the blocks for 24 bytes, every second one misaligned.
// Errors   bad_request; out_of_memory if the library throws; the exception ends here.
// Threads  new_delete and synchronized: any; monotonic and unsynchronized: one at a time (model::is_single_threaded).
class PmrResource final : public MemoryResource {
  public:
    // nullptr: new_delete_resource, which nobody owns.
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

// No memory at all: addresses that must not be dereferenced, to measure what the harness itself costs.
//
// Cost     one relaxed atomic addition per allocation, nothing per deallocation.
// Memory   none. Addresses are distinct for the life of the resource but stand closer together than the sizes asked
//          for; they start at 2^52, which no Linux process has mapped, so a stray write is a segmentation fault.
// Errors   bad_request only.
class NullResource final : public MemoryResource {
  public:
    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override
    {
        if (!is_servable(bytes, alignment)) {
            return {nullptr, AllocStatus::bad_request};
        }
        // Twice the alignment always holds one aligned address that the next caller's range cannot contain.
        const std::uint64_t address = round_up(next_.fetch_add(2 * alignment, std::memory_order_relaxed), alignment);
        // The address is a token that nobody reads or writes through.
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
