// Notes what malloc_usable_size answers, once for each size and alignment that was asked for. It does so for allocators
// whose answer follows no known rule (glibc's does: core/trace/usable_size.hpp).
//
// It asks only about a block that is certainly live. Either the block has just been given, and nobody else knows of it;
// or the only thread has not freed it since. It asks the allocator that gave the block. If the library behind malloc
// has no malloc_usable_size, it asks nobody.
//
// Cost     a look at each allocation that the inline code does not take; the others are looked at window by window.
// Memory   16 KiB. It must lie in memory that a forked child finds zeroed; it begins anew there.
// Errors   for sizes from 64 KiB on, and aligned ones, it asks at most max_others.
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
    // True once for each pair. Alignment 0: malloc's.
    [[nodiscard]] bool take(std::uint64_t size, std::uint64_t alignment) noexcept;
    static constexpr std::uint64_t first_large = 64U << 10U;

  private:
    std::array<std::atomic<std::uint64_t>, first_large / 64> small_;
    std::array<std::atomic<std::uint64_t>, max_others> others_;  // marks of pairs
};

// Call once the allocator is found, while the program has one thread.
void prepare_usable_sizes() noexcept;
// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): constinit
extern __attribute__((visibility("hidden"))) bool wants_usable_sizes;
// Whether the allocator's answers are wanted.
[[nodiscard]] inline bool asks_usable_sizes() noexcept
{
    return wants_usable_sizes;
}
[[nodiscard]] std::uint64_t usable_size_at(std::uint64_t address) noexcept;

}  // namespace memsweep::trace::recorder
