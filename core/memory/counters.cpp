#include "core/memory/counters.hpp"

namespace memsweep::memory {

// Across processes only a lock-free atomic works.
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

void Counters::use_lines(std::uint32_t count) noexcept
{
    std::uint32_t used = lines_used_.load(relaxed);
    while (used < count && !lines_used_.compare_exchange_weak(used, count, std::memory_order_release, relaxed)) {
    }
}

void Counters::look_at_peak(Line& line, std::uint64_t bytes) noexcept
{
    const std::uint64_t unseen = line.unseen_bytes.load(relaxed) + bytes;
    line.unseen_bytes.store(unseen < unseen_limit_bytes ? unseen : 0, relaxed);
    if (unseen >= unseen_limit_bytes) {
        raise_peak_to(live_bytes());
    }
}

std::uint64_t Counters::sum(std::atomic<std::uint64_t> Line::*field) const noexcept
{
    std::uint64_t total = 0;
    const std::uint32_t used = lines_used_.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < used; ++i) {
        total += (lines_[i].*field).load(std::memory_order_acquire);
    }
    return total;
}

// Frees first: whatever has been seen to be freed is then seen to have been allocated, so this cannot wrap.
std::uint64_t Counters::live_bytes() const noexcept
{
    const std::uint64_t freed = sum(&Line::freed_bytes);
    return sum(&Line::allocated_bytes) - freed;
}

}  // namespace memsweep::memory
