// A handle on a buffer. Copies share the buffer. After the last handle is dropped, the heap's discipline decides when
// the memory is really freed.
//
// Units    bytes.
// Cost     one locked instruction to copy, one to destroy. Destroying the only handle costs a virtual call instead.
//          Moving costs neither.
// Memory   a handle allocates nothing; adopt() allocates one control block from the process's heap.
// Errors   adopt() returns an empty handle if there is no memory for the control block; the caller keeps the buffer.
// Threads  any number of threads may share a buffer, but a handle belongs to one thread at a time: make a copy per
//          thread.
// Ownership  a heap's buffer must not outlive the heap. wrap() owns nothing and counts nothing; a buffer made by
//            adopt() calls its deleter exactly one time, in the thread that drops the last handle.
#pragma once

#include <cstdint>
#include <utility>

#include "core/base/assert.hpp"
#include "core/lifetime/block.hpp"
#include "core/lifetime/thread_cache.hpp"

namespace memsweep::lifetime {

// The parts of release_handle() that are not inlined.
void last_handle_gone(Block& block) noexcept;
void release_one_of_several(Block& block) noexcept;

// Drops one handle. If it was the last, the block goes to its cache, its discipline or its deleter. If there was none
// to drop, the discipline counts a stray release. Always inlined: as a function it would have to save three registers
// for its rare cases.
[[gnu::always_inline]] inline void release_handle(Block& block) noexcept
{
    if (!drop_sole_handle(block)) [[unlikely]] {
        return release_one_of_several(block);
    }
    if (!ThreadCache::put_recent(block)) [[unlikely]] {
        last_handle_gone(block);
    }
}

class Buffer {
  public:
    using Deleter = void (*)(void* context, void* data, std::uint64_t bytes) noexcept;

    Buffer() noexcept = default;
    Buffer(const Buffer& other) noexcept : data_{other.data_}, bytes_{other.bytes_}, block_{other.block_}
    {
        if (block_ != nullptr) {
            MEMSWEEP_ASSERT(add_handle(*block_), "a copy of a handle whose buffer was released behind its back");
        }
    }
    Buffer(Buffer&& other) noexcept
        : data_{std::exchange(other.data_, nullptr)}, bytes_{std::exchange(other.bytes_, 0)},
          block_{std::exchange(other.block_, nullptr)}
    {
    }
    Buffer& operator=(const Buffer& other) noexcept;
    Buffer& operator=(Buffer&& other) noexcept
    {
        if (this != &other) {
            reset();
            block_ = std::exchange(other.block_, nullptr);
            data_ = std::exchange(other.data_, nullptr);
            bytes_ = std::exchange(other.bytes_, 0);
        }
        return *this;
    }
    ~Buffer()
    {
        if (block_ != nullptr) {
            release_handle(*block_);
        }
    }

    // Makes the first handle on a block whose data, alignment and discipline are set. The buffer is the first `bytes`
    // bytes of the data.
    [[nodiscard]] static Buffer begin(Block& block, std::uint64_t bytes) noexcept
    {
        void* const data = block.data;  // read here, because the store of the count would force a second load
        lifetime::begin(block);
        return Buffer{&block, data, bytes};
    }
    [[nodiscard]] static Buffer begin_kept(Block& block, std::uint64_t bytes) noexcept
    {
        lifetime::begin_kept(block);
        return Buffer{&block, block.data, bytes};
    }
    [[nodiscard]] static Buffer wrap(void* data, std::uint64_t bytes) noexcept { return Buffer{nullptr, data, bytes}; }
    [[nodiscard]] static Buffer adopt(void* data, std::uint64_t bytes, Deleter deleter, void* context) noexcept;

    void reset() noexcept
    {
        data_ = nullptr;
        bytes_ = 0;
        if (Block* const block = std::exchange(block_, nullptr); block != nullptr) {
            release_handle(*block);
        }
    }

    // Sets the pointer to null but keeps the handle, like a program that clears its pointer when it frees.
    void clear_pointer() noexcept { data_ = nullptr; }

    [[nodiscard]] void* data() const noexcept { return data_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::uint64_t use_count() const noexcept;  // 0: empty, or made by wrap()
    [[nodiscard]] bool is_freed() const noexcept             // true: freed by hand while this handle exists
    {
        return block_ != nullptr && is_gone(*block_);
    }
    [[nodiscard]] bool unique() const noexcept { return use_count() == 1; }
    [[nodiscard]] explicit operator bool() const noexcept { return data_ != nullptr; }

    // For callers that add handles without holding one: marks the block as watched (block.hpp). nullptr: the handle is
    // empty, or was made by wrap().
    [[nodiscard]] Block* block() const noexcept
    {
        if (block_ != nullptr) {
            watch(*block_);
        }
        return block_;
    }

  private:
    friend class Heap;

    // Moves another handle into this one, which must be empty.
    void become(Buffer&& other) noexcept
    {
        data_ = other.data_;
        bytes_ = other.bytes_;
        block_ = std::exchange(other.block_, nullptr);
    }

    Buffer(Block* block, void* data, std::uint64_t bytes) noexcept : data_{data}, bytes_{bytes}, block_{block} {}

    // The block is the last member, because GCC writes the first two as one vector. If the block were part of a vector,
    // a drop soon after the write would stall before it could read the block.
    void* data_{};
    std::uint64_t bytes_{};
    Block* block_{};
};

}  // namespace memsweep::lifetime
