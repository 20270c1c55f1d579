// A resource that remembers everything: what is live, what was freed twice, in which order, by which thread.
//
// Freed memory is overwritten and kept until the end, so a buffer freed too early shows in its contents.
#pragma once

#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/lifetime/heap.hpp"
#include "core/memory/resource.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::tests {

class TrackingResource final : public memory::MemoryResource {
  public:
    static constexpr unsigned char freed_pattern = 0xDD;

    ~TrackingResource() override
    {
        for (const auto& [ptr, block] : blocks_) {
            std::free(ptr);
        }
    }

    memory::Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override
    {
        void* const ptr = std::calloc(bytes + 1, 1);
        const std::lock_guard lock{mutex_};
        blocks_[ptr] = {bytes, alignment, false};
        live_bytes_ += bytes;
        return {ptr, memory::AllocStatus::ok};
    }

    memory::Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return allocate(bytes, alignment);
    }

    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override
    {
        if (before_free) {
            before_free(ptr);
        }
        const std::lock_guard lock{mutex_};
        const auto found = blocks_.find(ptr);
        if (found == blocks_.end() || found->second.freed || found->second.bytes != bytes ||
            found->second.alignment != alignment) {
            ++wrong_frees_;
            return;
        }
        std::memset(ptr, freed_pattern, bytes);
        found->second.freed = true;
        live_bytes_ -= bytes;
        freed_.push_back(ptr);
        freeing_threads_.push_back(std::this_thread::get_id());
    }

    [[nodiscard]] std::uint64_t live_bytes() const { return locked(live_bytes_); }
    [[nodiscard]] std::uint64_t wrong_frees() const { return locked(wrong_frees_); }
    [[nodiscard]] std::vector<void*> freed() const { return locked(freed_); }
    [[nodiscard]] std::vector<std::thread::id> freeing_threads() const { return locked(freeing_threads_); }
    [[nodiscard]] std::size_t allocated() const
    {
        const std::lock_guard lock{mutex_};
        return blocks_.size();
    }

    std::function<void(void*)> before_free;  // set before any thread frees

  private:
    struct Tracked {
        std::size_t bytes, alignment;
        bool freed;
    };

    template <typename T>
    T locked(const T& value) const
    {
        const std::lock_guard lock{mutex_};
        return value;
    }

    mutable std::mutex mutex_;
    std::map<void*, Tracked> blocks_;
    std::uint64_t live_bytes_{};
    std::uint64_t wrong_frees_{};
    std::vector<void*> freed_;
    std::vector<std::thread::id> freeing_threads_;
};

inline lifetime::Buffer make_buffer(lifetime::Heap& heap, std::uint64_t bytes)
{
    auto made = heap.allocate(bytes, 16, false);
    REQUIRE(made.status == memory::AllocStatus::ok);
    return std::move(made.buffer);
}

}  // namespace memsweep::tests
