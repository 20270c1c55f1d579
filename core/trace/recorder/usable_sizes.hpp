// What malloc_usable_size answers, once for each size and alignment that was asked for, of allocators whose answer is
// no rule (of glibc it is one: core/trace/usable_size.hpp).
//
// Only a block that is certainly live is asked about: one that has just been given, while nobody else knows of it, or
// one that its thread, the only one, has not given back since. It is asked of the allocator that gave it, and where the
// library behind malloc has no malloc_usable_size, of nobody.
//
// Cost     a look at each allocation that does not take the way inline, and at those of a window of events together.
// Memory   16 KiB. It is to lie in memory that a forked child finds zeroed, and then begins anew.
// Errors   of sizes from 64 KiB on, and of aligned ones, no more than max_others.
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
    // True once of each pair. Alignment 0: as malloc has it.
    [[nodiscard]] bool take(std::uint64_t size, std::uint64_t alignment) noexcept;
    static constexpr std::uint64_t first_large = 64U << 10U;

  private:
    std::array<std::atomic<std::uint64_t>, first_large / 64> small_;
    std::array<std::atomic<std::uint64_t>, max_others> others_;  // marks of pairs
};

// Once the allocator is found, while the program has one thread.
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
