#include "core/lifetime/heap_triggers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace memsweep::lifetime {
namespace {

double smoothed(double old, double now, double factor)
{
    return std::max(factor * old + (1 - factor) * now, 1.0);
}

bool is_large(const model::ManagedBudget& budget)
{
    return budget.large_from != 0 && budget.garbage >= budget.large_from;
}

// What an array takes of the young generation; where objects do not cross regions, at least its share of one.
std::uint64_t young_bytes(const model::ManagedBudget& budget)
{
    if (budget.garbage == 0 || is_large(budget)) {
        return budget.bytes_per_array;
    }
    const std::uint64_t object = budget.garbage + budget.header;
    const std::uint64_t per_region = budget.region / object;
    const std::uint64_t share = per_region == 0 ? 0 : budget.region / per_region;
    return std::max(budget.bytes_per_array + object, share);
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

ManagedBudgetTrigger::ManagedBudgetTrigger(const model::ManagedBudget& budget) noexcept
    : budget_{budget}, young_per_array_{young_bytes(budget)},
      large_per_array_{is_large(budget) ? budget.garbage + budget.header : 0},
      wasted_{budget.tlab != 0 && budget.garbage > budget.tlab ? budget.tlab : 0}, young_{budget.used_at_start}
{
}

std::uint64_t ManagedBudgetTrigger::young_limit() const noexcept
{
    std::uint64_t limit = budget_.steady;
    if (collections_ == 0 && budget_.first != 0) {
        limit = budget_.first;
    } else if (collections_ == 1 && budget_.second != 0) {
        limit = budget_.second;
    }
    return limit - std::min(limit, wasted_);
}

Due ManagedBudgetTrigger::before_allocate(std::uint64_t /*bytes*/, std::int64_t /*now_ns*/) noexcept
{
    young_ += young_per_array_;
    young_asked_ = budget_.steady != 0 && young_ > young_limit();
    const bool large_asked = budget_.large != 0 && large_ > budget_.large;
    large_ += large_per_array_;
    return young_asked_ || large_asked ? Due::now : Due::no;
}

// What did not fit the young generation is the first of the emptied one. The large object that a collection came
// before is not counted.
void ManagedBudgetTrigger::collected(const Collection& /*collection*/) noexcept
{
    const bool asked = std::exchange(young_asked_, false);
    collections_ += asked ? 1 : 0;
    young_ = asked ? young_per_array_ : 0;
    if (!asked) {
        large_ = 0;
    } else if (collections_ == 1) {
        large_ += budget_.promoted;
    }
}

}  // namespace memsweep::lifetime
