// Notes what malloc_usable_size returns, one time for each pair of requested size and alignment. This is done for
// allocators whose answer follows no known rule. glibc's answer follows a known rule (core/trace/usable_size.hpp).
//
// Only blocks that are certainly live are asked about. Either the block has just been allocated, and no other thread
// knows it yet; or the process has only one thread, which has not freed the block. The allocator that gave the block is
// asked. If the library that defines malloc does not define malloc_usable_size, nothing is asked.
//
// Cost     a check for each allocation on the slow path (thread_log.hpp). Allocations that the inline code records are
//          checked when their window ends.
// Memory   16 KiB. It must lie in memory that a forked child finds zeroed, because the child begins anew.
// Errors   of the pairs with an alignment or with a size of at least 64 KiB, at most max_others are asked about.
// Threads  any, without a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace memsweep::trace::recorder {

class UsableSizes {
  public:
    static constexpr std::size_t max_others = 1024;

    [[nodiscard]] bool knows_small(std::uint64_t size) const noexcept
    {
        return (small_[size / 64].load(std::memory_order_relaxed) >> size % 64 & 1U) != 0;
    }
    // Whether this size and alignment must be asked about: true only in the first call for each pair, and false if the
    // table of pairs has no room for this pair. Alignment 0: malloc's default.
    [[nodiscard]] bool take(std::uint64_t size, std::uint64_t alignment) noexcept;
    static constexpr std::uint64_t first_large = 64U << 10U;

  private:
    std::array<std::atomic<std::uint64_t>, first_large / 64> small_;
    std::array<std::atomic<std::uint64_t>, max_others> others_;  // hashes of pairs of size and alignment
};

// Call when the allocator has been found, while the program has only one thread.
void prepare_usable_sizes() noexcept;
// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): constinit
extern __attribute__((visibility("hidden"))) bool wants_usable_sizes;
// Whether usable sizes are noted for this process's allocator.
[[nodiscard]] inline bool asks_usable_sizes() noexcept
{
    return wants_usable_sizes;
}
[[nodiscard]] std::uint64_t usable_size_at(std::uint64_t address) noexcept;

}  // namespace memsweep::trace::recorder
