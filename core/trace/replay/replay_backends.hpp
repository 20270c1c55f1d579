// The backends that give a replay its blocks: no memory at all, malloc itself, a memory resource, or a heap with its
// release discipline.
//
// Cost     NullBackend: a store to the slot. MallocBackend: only the call, as in a hand-written loop.
// Threads  any thread may allocate and free.
//
// Ownership  a slot owns its block. The resource or heap that a backend refers to must outlive the backend.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/base/barrier.hpp"
#include "core/lifetime/heap.hpp"
#include "core/memory/resource.hpp"
#include "core/trace/replay/replay_program.hpp"

namespace memsweep::trace {

// Gives no memory: slots are only filled and emptied. The time of such a replay is the cost of dispatching operations.
struct NullBackend {
    using Slot = void*;
    static constexpr bool has_memory = false;

    bool allocate(Slot& slot, std::uint64_t size, std::uint32_t /*alignment*/, bool /*zeroed*/) noexcept
    {
        slot = base::hide(reinterpret_cast<void*>(size | 1));  // NOLINT(performance-no-int-to-ptr): never followed
        return true;
    }
    void release(Slot& slot, std::uint64_t /*size*/, std::uint32_t /*alignment*/) noexcept { base::keep_stores(slot); }
    bool resize(Slot& slot, const ExtendedOp& op) noexcept { return allocate(slot, op.size, 0, false); }
    static void* data(Slot& slot) noexcept { return slot; }
};

struct MallocBackend {
    using Slot = void*;
    static constexpr bool has_memory = true;

    bool allocate(Slot& slot, std::uint64_t size, std::uint32_t alignment, bool zeroed) noexcept
    {
        if (alignment <= plain_alignment) {
            slot = zeroed ? std::calloc(1, size) : std::malloc(size);
        } else if (::posix_memalign(&slot, alignment, size) != 0) {
            slot = nullptr;
        } else if (zeroed) {
            std::memset(slot, 0, size);
        }
        return slot != nullptr || size == 0;
    }
    void release(Slot& slot, std::uint64_t /*size*/, std::uint32_t /*alignment*/) noexcept { std::free(slot); }
    // Never asks for 0 bytes, because realloc(p, 0) may free the block and return null.
    bool resize(Slot& slot, const ExtendedOp& op) noexcept
    {
        void* const resized = std::realloc(slot, std::max<std::uint64_t>(op.size, 1));
        slot = resized != nullptr ? resized : slot;
        return resized != nullptr;
    }
    static void* data(Slot& slot) noexcept { return slot; }
};

// `touches`: whether the processor can access the memory. If not, nothing is zeroed or copied.
template <bool touches>
class ResourceBackend {
  public:
    using Slot = void*;
    static constexpr bool has_memory = touches;

    explicit ResourceBackend(memory::MemoryResource& resource) : resource_{&resource} {}

    bool allocate(Slot& slot, std::uint64_t size, std::uint32_t alignment, bool zeroed) noexcept
    {
        slot = (zeroed && touches ? resource_->allocate_zeroed(size, alignment) : resource_->allocate(size, alignment))
                   .ptr;
        return slot != nullptr;
    }
    void release(Slot& slot, std::uint64_t size, std::uint32_t alignment) noexcept
    {
        resource_->deallocate(slot, size, alignment);
    }
    bool resize(Slot& slot, const ExtendedOp& op) noexcept
    {
        void* const old = slot;
        if (!allocate(slot, op.size, op.alignment, false)) {
            slot = old;
            return false;
        }
        if constexpr (touches) {
            std::memcpy(slot, old, std::min(op.size, op.old_size));
        }
        resource_->deallocate(old, op.old_size, op.old_alignment);
        return true;
    }
    static void* data(Slot& slot) noexcept { return slot; }

  private:
    memory::MemoryResource* resource_;
};

// In a heap, a release drops the only handle of the block. `frees_manually`: the discipline expects the program to free
// blocks itself; a release then frees the block first.
template <bool touches>
class HeapBackend {
  public:
    using Slot = lifetime::Buffer;
    static constexpr bool has_memory = touches;

    HeapBackend(lifetime::Heap& heap, bool frees_manually) : heap_{&heap}, frees_manually_{frees_manually} {}

    bool allocate(Slot& slot, std::uint64_t size, std::uint32_t alignment, bool zeroed) noexcept
    {
        auto made = heap_->allocate(size, alignment, zeroed && touches);
        slot = std::move(made.buffer);
        return made.status == memory::AllocStatus::ok;
    }
    void release(Slot& slot, std::uint64_t /*size*/, std::uint32_t /*alignment*/) noexcept
    {
        if (frees_manually_) {
            heap_->free(slot);
        }
        slot.reset();
    }
    bool resize(Slot& slot, const ExtendedOp& op) noexcept
    {
        Slot old = std::move(slot);
        if (!allocate(slot, op.size, op.alignment, false)) {
            slot = std::move(old);
            return false;
        }
        if constexpr (touches) {
            std::memcpy(slot.data(), old.data(), std::min(op.size, op.old_size));
        }
        release(old, op.old_size, op.old_alignment);
        return true;
    }
    static void* data(Slot& slot) noexcept { return slot.data(); }

  private:
    lifetime::Heap* heap_;
    bool frees_manually_;
};

}  // namespace memsweep::trace
