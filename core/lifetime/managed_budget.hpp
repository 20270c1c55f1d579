// The collector's own heap fills up: each native buffer comes with managed bytes (its wrappers, and the garbage the
// program makes beside it). A collection comes when the next ones no longer fit the young generation, or when large
// objects have passed a budget of their own; that one empties both.
//
// Sources  HotSpot's young generation (eden, TLABs; G1's regions, which it resizes after each collection, hence a first
//          and a second budget); Mono's SGen (nursery, and major collections when large objects pass an allowance of
//          16 MiB); CoreCLR's gen0 budget.
#pragma once

#include "core/lifetime/trigger.hpp"

namespace memsweep::lifetime {

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
