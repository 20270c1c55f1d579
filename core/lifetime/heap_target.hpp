// Julia's collector (1.10 and later): a collection when the heap reaches a target, and the next target from what the
// last collections cost and freed.
//
// Sources  JuliaLang/julia, src/gc-stock.c (the heap target, MemBalancer's square-root rule): first target
//          5600 * 1024 * 8 bytes; next = heap + clamp(sqrt(heap * alloc rate / collection rate) * tuning,
//          max(5 % of the heap, 5,734,400), overallocation(heap)).
// Units    bytes, nanoseconds. Arrays below `counts_from` lie in the managed heap and are not counted.
#pragma once

#include "core/lifetime/trigger.hpp"

namespace memsweep::lifetime {

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

}  // namespace memsweep::lifetime
