// CPython's cyclic collector: the youngest generation when the container objects allocated minus those deallocated pass
// a threshold, the next after every tenth collection of the one before, the oldest only when enough waits for it. It
// counts objects and is blind to bytes.
//
// Sources  CPython 3.11, Modules/gcmodule.c; thresholds (700, 10, 10).
#pragma once

#include <array>

#include "core/lifetime/trigger.hpp"

namespace memsweep::lifetime {

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
