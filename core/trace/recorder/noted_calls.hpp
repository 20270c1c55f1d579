// Records calls that allocate or free a block. An allocation is recorded after the real call, a free before it. So if
// one thread frees a block, and another thread then gets the block's memory, the recorded free comes before the
// recorded allocation.
//
// Threads  any.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/trace/recorder/real_calls.hpp"
#include "core/trace/recorder/thread_log.hpp"

namespace memsweep::trace::recorder {

[[nodiscard]] inline std::uint64_t place(const void* block) noexcept
{
    return reinterpret_cast<std::uint64_t>(block);
}

[[nodiscard]] inline void* block_at(std::uint64_t address) noexcept
{
    return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr): what place() was given
}

// Records the allocation of a block, and returns the block.
template <Call call>
__attribute__((always_inline)) inline void* note_allocation(void* block, std::size_t bytes,
                                                            std::size_t alignment = 0) noexcept
{
    if (block == nullptr) [[unlikely]] {
        return block_at(record<Call::failed_alloc>(0, bytes));
    }
    return block_at(
        record<call>(place(block), bytes, alignment));  // nothing is recorded until the real functions are found
}

// Records a failed allocation if the scope ends before given() is called, as it does when the allocation throws. Use it
// only in files that are compiled with exceptions.
class RefusedUnlessGiven {
  public:
    explicit RefusedUnlessGiven(std::size_t bytes) noexcept : bytes_{bytes} {}
    RefusedUnlessGiven(const RefusedUnlessGiven&) = delete;
    RefusedUnlessGiven& operator=(const RefusedUnlessGiven&) = delete;
    ~RefusedUnlessGiven()
    {
        if (!is_given_) {
            record<Call::failed_alloc>(0, bytes_);
        }
    }
    void given() noexcept { is_given_ = true; }

  private:
    std::size_t bytes_;
    bool is_given_{};
};

}  // namespace memsweep::trace::recorder
