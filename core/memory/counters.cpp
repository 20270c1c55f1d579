#include "core/memory/counters.hpp"

#include <algorithm>

namespace memsweep::memory {

// Across processes only a lock-free atomic works.
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

namespace {

void raise_to(std::atomic<std::uint32_t>& value, std::uint32_t least)
{
    std::uint32_t now = value.load(std::memory_order_relaxed);
    while (now < least &&
           !value.compare_exchange_weak(now, least, std::memory_order_release, std::memory_order_relaxed)) {
    }
}

}  // namespace

Counters::Line& Counters::own_line() noexcept
{
    const std::uint32_t slot = thread_slot();
    raise_to(lines_used_, slot + 1);
    raise_to(own_lines_used_, std::min(slot + 1, thread_slots));
    return lines_[slot];
}

void Counters::add(const Line& line, std::atomic<std::uint64_t>& counter, std::uint64_t amount) noexcept
{
    if (&line != &lines_.back()) {
        add_own(counter, amount);
    } else {
        counter.fetch_add(amount, std::memory_order_release);
    }
}

void Counters::count_granted_first(std::uint64_t bytes) noexcept
{
    Line& line = own_line();
    if (line.allocations.load(relaxed) == 0) {
        allocating_.fetch_add(1, relaxed);
    }
    add(line, line.allocations, 1);
    add(line, line.allocated_bytes, bytes);
    look_at_peak(line, bytes);
}

void Counters::count_returned_first(std::uint64_t bytes) noexcept
{
    Line& line = own_line();
    add(line, line.deallocations, 1);
    add(line, line.freed_bytes, bytes);
}

void Counters::count_refused() noexcept
{
    Line& line = own_line();
    add(line, line.refusals, 1);
}

void Counters::look_at_peak(Line& line, std::uint64_t bytes) noexcept
{
    if (allocating_.load(relaxed) == 1) {
        return raise_peak_to(live_bytes());
    }
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
