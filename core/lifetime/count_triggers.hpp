// Triggers that count what a program allocates and are blind to its bytes.
#pragma once

#include <array>

#include "core/lifetime/trigger.hpp"

namespace memsweep::lifetime {

// A collection before an allocation when a given number of allocations were made since the last one.
class AllocationCount final : public Trigger {
  public:
    explicit AllocationCount(std::uint64_t every) noexcept : every_{every} {}

    // The count starts again with the allocation that asks, not when its collection is over: until then other threads
    // would ask for the same one.
    [[nodiscard]] Due before_allocate(std::uint64_t /*bytes*/, std::int64_t /*now_ns*/) noexcept override
    {
        if (since_ < every_) {
            ++since_;
            return Due::no;
        }
        since_ = 1;
        ++asked_;
        return Due::now;
    }

    void collected(const Collection& collection) noexcept override
    {
        if (collection.asked_for) {
            since_ = 0;
        } else if (asked_ == 0) {
            since_ = 1;  // another trigger's
        } else {
            --asked_;
        }
    }

  private:
    std::uint64_t every_;
    std::uint64_t since_{};
    std::uint64_t asked_{};  // collections that are not over yet
};

// CPython's cyclic collector. It collects the youngest generation when the container objects allocated minus those
// deallocated pass a threshold, the next one after every tenth collection of the one before, and the oldest only when
// enough waits for it.
//
// Sources  CPython 3.11, Modules/gcmodule.c; thresholds (700, 10, 10).
class CycleCounts final : public Trigger {
  public:
    explicit CycleCounts(const model::CycleThresholds& spec) noexcept : spec_{spec}, young_{spec.containers_at_start} {}

    [[nodiscard]] Due before_allocate(std::uint64_t bytes, std::int64_t now_ns) noexcept override;
    void collected(const Collection& collection) noexcept override;

    // Of the youngest generation alone, of the two youngest, of all.
    [[nodiscard]] const std::array<std::uint64_t, 3>& collections() const noexcept { return collections_; }

  private:
    void choose_generation() noexcept;

    model::CycleThresholds spec_;
    std::uint64_t young_;        // containers allocated minus deallocated since the last collection
    std::uint64_t passed_on_{};  // young containers that survived: what the oldest generation has not looked at
    std::uint64_t long_lived_{};
    std::array<std::uint64_t, 2> since_{};  // collections of the generation below since this one was collected
    std::array<std::uint64_t, 3> collections_{};
};

}  // namespace memsweep::lifetime
