#include "core/lifetime/heap_target.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace memsweep::lifetime {
namespace {

double smoothed(double old, double now, double factor)
{
    return std::max(factor * old + (1 - factor) * now, 1.0);
}

}  // namespace

Due HeapTargetTrigger::before_allocate(std::uint64_t bytes, std::int64_t now_ns) noexcept
{
    if (began_ns_ < 0) {
        began_ns_ = now_ns;
    }
    const bool due = heap_ >= target_;
    heap_ += bytes >= spec_.counts_from ? bytes : 0;
    return due ? Due::now : Due::no;
}

void HeapTargetTrigger::freed(std::uint64_t bytes) noexcept
{
    heap_ -= bytes >= spec_.counts_from ? std::min(bytes, heap_) : 0;
}

std::uint64_t HeapTargetTrigger::overallocation() const noexcept
{
    const auto bits = static_cast<unsigned>(std::bit_width(heap_));
    const std::uint64_t over = (std::uint64_t{4} << (bits * 7 / 8)) + heap_ / 8;
    const bool passes = spec_.max_heap != 0 && heap_ + over > spec_.max_heap;
    return passes ? spec_.max_heap / 20 : over;
}

void HeapTargetTrigger::smooth(const Collection& collection) noexcept
{
    const std::uint64_t before = heap_ + collection.freed_bytes;
    const auto allocated = static_cast<double>(before - std::min(before, heap_after_last_));
    const auto program = static_cast<double>(collection.start_ns - began_ns_);
    const auto pause = static_cast<double>(collection.end_ns - collection.start_ns);
    allocated_ = smoothed(allocated_, allocated, spec_.smooth_alloc);
    program_ns_ = smoothed(program_ns_, program, spec_.smooth_alloc);
    freed_ = smoothed(freed_, static_cast<double>(collection.freed_bytes), spec_.smooth_gc);
    pause_ns_ = smoothed(pause_ns_, pause, spec_.smooth_gc);
    cycles_pausing_more_ = pause > program ? cycles_pausing_more_ + 1 : 0;
}

// Its frees have been reported: the heap is what is left.
void HeapTargetTrigger::collected(const Collection& collection) noexcept
{
    if (!collection.asked_for) {
        smooth(collection);
        const double rates = (allocated_ / program_ns_) / (freed_ / pause_ns_);
        const double wanted = std::sqrt(static_cast<double>(heap_) * rates) * spec_.tuning;
        const double least =
            std::max(static_cast<double>(heap_) * spec_.min_growth, static_cast<double>(spec_.min_bytes));
        const double most = std::max(static_cast<double>(overallocation()), least);
        target_ = heap_ + static_cast<std::uint64_t>(std::clamp(wanted, least, most));
    }
    heap_after_last_ = heap_;
    began_ns_ = collection.end_ns;
}

}  // namespace memsweep::lifetime
