// Triggers (triggers.hpp) that ask for a collection when a runtime's managed heap is full enough.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "core/lifetime/hotspot_eden.hpp"
#include "core/lifetime/triggers.hpp"

namespace memsweep::lifetime {

inline double smoothed(double old, double now, double factor)
{
    return std::max(factor * old + (1 - factor) * now, 1.0);
}

// Completes the budget of a Serial collector from the size of its heap. The heap decides the size of eden, and a
// thread-local buffer is a 50th of eden. The profile's `used_at_start` was measured with a heap of 64 MiB and includes
// one buffer. So the size of that buffer is replaced by the size of a buffer of this heap.
inline model::ManagedBudget with_eden(model::ManagedBudget budget)
{
    if (budget.heap.initial == 0 || budget.region != 0) {
        return budget;
    }
    constexpr std::uint64_t buffer_of_64_mib = serial_eden({64U << 20U, 64U << 20U, 256U << 20U}) / 50;
    budget.steady = serial_eden(budget.heap);
    budget.tlab = budget.steady / 50;
    budget.first = 0;
    budget.second = 0;
    budget.used_at_start = std::max(budget.used_at_start + budget.tlab, buffer_of_64_mib) - buffer_of_64_mib;
    return budget;
}

// Returns the bytes of a thread-local buffer that are, on average, still unused when the young generation is full.
// Small objects use up the whole buffer. If an array does not fit the rest of a buffer, it is allocated outside of the
// buffer, so on average half a buffer is unused. Arrays larger than a buffer are always outside, so a whole buffer is
// unused.
inline std::uint64_t unused_at_collection(const model::ManagedBudget& budget)
{
    if (budget.garbage == 0) {
        return 0;
    }
    return budget.garbage <= budget.tlab ? budget.tlab / 2 : budget.tlab;
}

inline bool is_large(const model::ManagedBudget& budget)
{
    return budget.large_from != 0 && budget.garbage >= budget.large_from;
}

// Returns the bytes of the young generation that an array takes. Objects do not cross the regions of G1. So a large
// object takes at least its share of a region: the region's size divided by the number of such objects that fit into
// it.
inline std::uint64_t young_bytes(const model::ManagedBudget& budget)
{
    if (budget.garbage == 0 || is_large(budget)) {
        return budget.bytes_per_array;
    }
    const std::uint64_t object = budget.garbage + budget.header;
    const std::uint64_t per_region = budget.region / object;
    const std::uint64_t share = per_region == 0 ? 0 : budget.region / per_region;
    return std::max(budget.bytes_per_array + object, share);
}

// Julia's collector (1.10 and later). A collection comes when the heap reaches a target size. The next target follows
// from the time that the last collections took and from the bytes that they freed. Arrays of fewer than `counts_from`
// bytes lie in the managed heap and are not counted.
//
// Sources  JuliaLang/julia, src/gc-stock.c (the heap target, MemBalancer's square-root rule): first target
//          5600 * 1024 * 8 bytes; next = heap + clamp(sqrt(heap * alloc rate / collection rate) * tuning,
//          max(5 % of the heap, 5,734,400), overallocation(heap)).
// Units    bytes, nanoseconds.
class HeapTargetTrigger final : public Trigger {
  public:
    explicit HeapTargetTrigger(const model::HeapTarget& spec) noexcept : spec_{spec}, target_{spec.initial} {}

    [[nodiscard]] Due before_allocate(std::uint64_t bytes, std::int64_t now_ns) noexcept override
    {
        if (began_ns_ < 0) {
            began_ns_ = now_ns;
        }
        const bool due = heap_ >= target_;
        heap_ += bytes >= spec_.counts_from ? bytes : 0;
        return due ? Due::now : Due::no;
    }

    void freed(std::uint64_t bytes) noexcept override
    {
        heap_ -= bytes >= spec_.counts_from ? std::min(bytes, heap_) : 0;
    }

    // freed() was already called for all that this collection freed, so `heap_` is what is left.
    void collected(const Collection& collection) noexcept override
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

    [[nodiscard]] std::uint64_t target() const noexcept { return target_; }
    [[nodiscard]] std::uint64_t heap() const noexcept { return heap_; }

  private:
    [[nodiscard]] std::uint64_t overallocation() const noexcept
    {
        const auto bits = static_cast<unsigned>(std::bit_width(heap_));
        const std::uint64_t over = (std::uint64_t{4} << (bits * 7 / 8)) + heap_ / 8;
        const bool passes = spec_.max_heap != 0 && heap_ + over > spec_.max_heap;
        return passes ? spec_.max_heap / 20 : over;
    }

    void smooth(const Collection& collection) noexcept
    {
        const std::uint64_t before = heap_ + collection.freed_bytes;
        const auto allocated = static_cast<double>(before - std::min(before, heap_after_last_));
        const auto program = static_cast<double>(collection.start_ns - began_ns_);
        const auto pause = static_cast<double>(collection.end_ns - collection.start_ns);
        allocated_ = smoothed(allocated_, allocated, spec_.smooth_alloc);
        program_ns_ = smoothed(program_ns_, program, spec_.smooth_alloc);
        freed_ = smoothed(freed_, static_cast<double>(collection.freed_bytes), spec_.smooth_gc);
        pause_ns_ = smoothed(pause_ns_, pause, spec_.smooth_gc);
    }

    model::HeapTarget spec_;
    std::uint64_t target_;
    std::uint64_t heap_{};
    std::uint64_t heap_after_last_{};
    // The end of the last collection, or the first allocation if there was no collection; -1: neither.
    std::int64_t began_ns_{-1};
    double allocated_{};  // smoothed, per collection, as are the next three
    double program_ns_{};
    double freed_{};
    double pause_ns_{};
};

// Managed memory that a program allocates along with native buffers: wrapper objects and garbage, for each buffer. A
// collection comes when this memory no longer fits the young generation, or when large objects exceed a budget of their
// own. A collection for large objects also empties the young generation.
//
// Sources  HotSpot's young generation (eden, TLABs, G1's regions). G1 resizes it after each collection, so the first
//          and the second collection have budgets of their own; g1_young.hpp models G1 if the heap's size is given.
//          Mono's SGen (nursery, and major collections if large objects exceed an allowance of 16 MiB). CoreCLR's gen0
//          budget.
class ManagedBudgetTrigger final : public Trigger {
  public:
    explicit ManagedBudgetTrigger(const model::ManagedBudget& budget) noexcept
        : budget_{with_eden(budget)}, young_per_array_{young_bytes(budget)},
          large_per_array_{is_large(budget) ? budget.garbage + budget.header : 0},
          unused_{unused_at_collection(budget_)}, young_{budget_.used_at_start}
    {
    }

    [[nodiscard]] Due before_allocate(std::uint64_t /*bytes*/, std::int64_t /*now_ns*/) noexcept override
    {
        young_ += young_per_array_;
        young_asked_ = budget_.steady != 0 && young_ > young_limit();
        const bool large_asked = budget_.large != 0 && large_ > budget_.large;
        large_ += large_per_array_;
        return young_asked_ || large_asked ? Due::now : Due::no;
    }

    // The array that did not fit the young generation becomes the first in the empty young generation. A large object
    // that asked for a collection is not counted.
    void collected(const Collection& /*collection*/) noexcept override
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

  private:
    [[nodiscard]] std::uint64_t young_limit() const noexcept
    {
        std::uint64_t limit = budget_.steady;
        if (collections_ == 0 && budget_.first != 0) {
            limit = budget_.first;
        } else if (collections_ == 1 && budget_.second != 0) {
            limit = budget_.second;
        }
        return limit - std::min(limit, unused_);
    }

    model::ManagedBudget budget_;
    std::uint64_t young_per_array_;
    std::uint64_t large_per_array_;
    std::uint64_t unused_;
    std::uint64_t young_;
    std::uint64_t large_{};
    std::uint64_t collections_{};  // those that came because the young generation was full
    bool young_asked_{};
};

}  // namespace memsweep::lifetime
