// Freed memory is filled with a pattern and held back for a while; a pattern that is broken when the memory goes back
// at last was written to after it was freed.
//
// Units    bytes.
// Cost     freeing writes every byte, and reads it again when the memory leaves quarantine.
// Memory   holds at most `limit_bytes` back, the oldest goes first.
// Threads  any; tags are the caller's and belong to one thread.
// Ownership  borrows the upstream; destruction gives everything back to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "core/memory/resource.hpp"

namespace memsweep::memory {

class QuarantineAdaptor final : public MemoryResource {
  public:
    static constexpr unsigned char poison = 0xDB;

    QuarantineAdaptor(MemoryResource& upstream, std::uint64_t limit_bytes) noexcept
        : upstream_{upstream}, limit_bytes_{limit_bytes}
    {
    }
    ~QuarantineAdaptor() override;

    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return upstream_.allocate(bytes, alignment);
    }
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return upstream_.allocate_zeroed(bytes, alignment);
    }
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override;

    // Whose the memory is that is freed next, for the report of a broken pattern.
    void tag_next(std::uint16_t tag) noexcept { tag_ = tag; }

    // The tags of everything that was written to after it was freed: what has left quarantine since the last call, and
    // all that is still in it, which is then given back.
    [[nodiscard]] std::vector<std::uint16_t> take_broken();

  private:
    struct Held {
        void* ptr{};
        std::size_t bytes{};
        std::size_t alignment{};
        std::uint16_t tag{};
    };
    void leave(const Held& held);

    MemoryResource& upstream_;
    std::uint64_t limit_bytes_;
    std::uint16_t tag_{};
    std::mutex mutex_;  // guards everything below
    std::deque<Held> held_;
    std::uint64_t held_bytes_{};
    std::vector<std::uint16_t> broken_;
};

// Whether memory looks as freed memory in quarantine does: its first and last bytes do.
[[nodiscard]] bool looks_poisoned(const void* ptr, std::size_t bytes) noexcept;

}  // namespace memsweep::memory
