// Triggers on the fill level of a runtime's managed heap.
#pragma once

#include "core/lifetime/trigger.hpp"

namespace memsweep::lifetime {

// Julia's collector (1.10 and later). A collection comes when the heap reaches a target; the next target follows from
// what the last collections cost and freed. Arrays below `counts_from` lie in the managed heap and are not counted.
//
// Sources  JuliaLang/julia, src/gc-stock.c (the heap target, MemBalancer's square-root rule): first target
//          5600 * 1024 * 8 bytes; next = heap + clamp(sqrt(heap * alloc rate / collection rate) * tuning,
//          max(5 % of the heap, 5,734,400), overallocation(heap)).
// Units    bytes, nanoseconds.
class HeapTargetTrigger final : public Trigger {
  public:
    explicit HeapTargetTrigger(const model::HeapTarget& spec) noexcept : spec_{spec}, target_{spec.initial} {}

    [[nodiscard]] Due before_allocate(std::uint64_t bytes, std::int64_t now_ns) noexcept override;
    void freed(std::uint64_t bytes) noexcept override;
    void collected(const Collection& collection) noexcept override;

    [[nodiscard]] std::uint64_t target() const noexcept { return target_; }
    [[nodiscard]] std::uint64_t heap() const noexcept { return heap_; }
    [[nodiscard]] bool thrashes() const noexcept { return cycles_pausing_more_ >= 3; }

  private:
    [[nodiscard]] std::uint64_t overallocation() const noexcept;
    void smooth(const Collection& collection) noexcept;

    model::HeapTarget spec_;
    std::uint64_t target_;
    std::uint64_t heap_{};
    std::uint64_t heap_after_last_{};
    std::int64_t began_ns_{-1};  // of the program's turn: its first allocation, then the end of the last collection
    double allocated_{};         // smoothed, per cycle
    double program_ns_{};
    double freed_{};
    double pause_ns_{};
    std::uint32_t cycles_pausing_more_{};  // in a row
};

// Managed bytes beside native buffers: each buffer comes with its wrappers and with the garbage that the program makes
// beside it. A collection comes when the next of these bytes no longer fit the young generation, or when large objects
// have passed a budget of their own; the latter collection empties both.
//
// Sources  HotSpot's young generation (eden, TLABs; G1's regions, which it resizes after each collection, hence a first
//          and a second budget); Mono's SGen (nursery, and major collections when large objects pass an allowance of
//          16 MiB); CoreCLR's gen0 budget.
class ManagedBudgetTrigger final : public Trigger {
  public:
    explicit ManagedBudgetTrigger(const model::ManagedBudget& budget) noexcept;

    [[nodiscard]] Due before_allocate(std::uint64_t bytes, std::int64_t now_ns) noexcept override;
    void collected(const Collection& collection) noexcept override;

  private:
    [[nodiscard]] std::uint64_t young_limit() const noexcept;

    model::ManagedBudget budget_;
    std::uint64_t young_per_array_;
    std::uint64_t large_per_array_;
    std::uint64_t wasted_;
    std::uint64_t young_;
    std::uint64_t large_{};
    std::uint64_t collections_{};  // that the young generation asked for
    bool young_asked_{};
};

}  // namespace memsweep::lifetime
