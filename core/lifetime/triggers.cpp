#include "core/lifetime/triggers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

namespace memsweep::lifetime {

Due CycleCounts::before_allocate(std::uint64_t /*bytes*/, std::int64_t /*now_ns*/) noexcept
{
    young_ += spec_.containers_per_array;
    return young_ + spec_.temporary_containers > spec_.generation0 ? Due::now : Due::no;
}

// The array being made is the first of the new young generation.
void CycleCounts::collected(const Collection& collection) noexcept
{
    young_ = collection.asked_for ? 0 : spec_.containers_per_array;
    if (collection.asked_for) {
        since_ = {};
        ++collections_[2];
    } else {
        choose_generation();
    }
}

void CycleCounts::choose_generation() noexcept
{
    ++passed_on_;
    if (since_[1] > spec_.generation2 && passed_on_ > long_lived_ / 4) {
        since_ = {};
        long_lived_ += std::exchange(passed_on_, 0);
        ++collections_[2];
    } else if (since_[0] > spec_.generation1) {
        since_[0] = 0;
        ++since_[1];
        ++collections_[1];
    } else {
        ++since_[0];
        ++collections_[0];
    }
}
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

std::uint64_t CoreClrPressure::budget() const noexcept
{
    const std::uint64_t least = spec_.min_budget;
    std::uint64_t budget = least;
    if (iteration_ >= history) {
        const std::uint64_t added = std::accumulate(added_.begin(), added_.end(), std::uint64_t{0}) - added_[slot()];
        const std::uint64_t removed =
            std::accumulate(removed_.begin(), removed_.end(), std::uint64_t{0}) - removed_[slot()];
        const auto most = static_cast<std::uint64_t>(spec_.max_ratio);
        if (added >= most * removed) {
            budget = least * most;
        } else if (added > removed) {
            budget = least * (added * 1024 / removed) / 1024;  // CoreCLR's fixed point
        }
    }
    const double heap_share = static_cast<double>(spec_.managed_heap) * spec_.heap_share;
    return std::max(budget, static_cast<std::uint64_t>(heap_share));
}

Due CoreClrPressure::before_allocate(std::uint64_t bytes, std::int64_t now_ns) noexcept
{
    added_[slot()] += bytes;
    const std::uint64_t since = added_[slot()];
    if (since < spec_.min_budget || since < budget()) {
        return Due::no;
    }
    const double since_last = static_cast<double>(now_ns - last_start_ns_);
    const bool first = iteration_ == 0 && last_start_ns_ == 0;
    const bool rested = first || since_last > spec_.duty * static_cast<double>(last_duration_ns_);
    return rested ? Due::background : Due::no;
}

void CoreClrPressure::collected(const Collection& collection) noexcept
{
    ++iteration_;
    added_[slot()] = 0;
    removed_[slot()] = 0;
    last_start_ns_ = collection.start_ns;
    last_duration_ns_ = collection.end_ns - collection.start_ns;
}

Due CudaPressure::before_allocate(std::uint64_t bytes, std::int64_t now_ns) noexcept
{
    const double pressure = static_cast<double>(live_) / static_cast<double>(spec_.capacity);
    live_ += bytes;
    if (pressure < spec_.threshold) {
        return Due::no;
    }
    double allowed = spec_.max_gc_share;
    allowed *= last_freed_ > 0.1 ? 2 : 1;
    allowed *= pressure > 0.90 ? 2 : 1;
    allowed *= pressure > 0.95 ? 2 : 1;
    const auto since = static_cast<double>(now_ns - last_end_ns_);
    const bool seldom = last_end_ns_ < 0 || gc_ns_ <= allowed * (since + gc_ns_);
    return seldom ? Due::now : Due::no;
}

void CudaPressure::freed(std::uint64_t bytes) noexcept
{
    live_ -= std::min(bytes, live_);
}

void CudaPressure::collected(const Collection& collection) noexcept
{
    const auto took = static_cast<double>(collection.end_ns - collection.start_ns);
    gc_ns_ = last_end_ns_ < 0 ? took : 0.75 * gc_ns_ + 0.25 * took;
    const auto before = static_cast<double>(live_ + collection.freed_bytes);
    last_freed_ = before > 0 ? static_cast<double>(collection.freed_bytes) / before : 0;
    last_end_ns_ = collection.end_ns;
}

std::vector<std::unique_ptr<Trigger>> make_triggers(const model::ReleaseSpec& spec)
{
    std::vector<std::unique_ptr<Trigger>> triggers;
    if (spec.collect_every != 0) {
        triggers.push_back(std::make_unique<AllocationCount>(spec.collect_every));
    }
    if (spec.managed.steady != 0 || spec.managed.large != 0) {
        triggers.push_back(std::make_unique<ManagedBudgetTrigger>(spec.managed));
    }
    if (spec.pressure.rule == model::PressureRule::coreclr) {
        triggers.push_back(std::make_unique<CoreClrPressure>(spec.pressure));
    }
    if (spec.pressure.rule == model::PressureRule::cuda && spec.pressure.capacity != 0) {
        triggers.push_back(std::make_unique<CudaPressure>(spec.pressure));
    }
    if (spec.target.initial != 0) {
        triggers.push_back(std::make_unique<HeapTargetTrigger>(spec.target));
    }
    if (spec.cycle.generation0 != 0) {
        triggers.push_back(std::make_unique<CycleCounts>(spec.cycle));
    }
    return triggers;
}

}  // namespace memsweep::lifetime
