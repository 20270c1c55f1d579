// GC.AddMemoryPressure of CoreCLR: gross additions since the last full collection against a budget, which grows with
// the ratio of additions to removals over the last collections, and a cap on how often collections may come.
//
// Sources  dotnet/runtime, comutilnative.cpp (GCInterface::AddMemoryPressure), 64-bit constants.
// Units    bytes; removals never lower what was added since the last collection, so a program that frees all it
//          allocates is collected all the same.
#pragma once

#include <array>
#include <cstddef>

#include "core/lifetime/trigger.hpp"

namespace memsweep::lifetime {

class CoreClrPressure final : public Trigger {
  public:
    explicit CoreClrPressure(const model::Pressure& spec) noexcept : spec_{spec} {}

    [[nodiscard]] Due before_allocate(std::uint64_t bytes, std::int64_t now_ns) noexcept override;
    void freed(std::uint64_t bytes) noexcept override { removed_[slot()] += bytes; }
    void collected(const Collection& collection) noexcept override;

    // What additions may reach before a collection is asked for.
    [[nodiscard]] std::uint64_t budget() const noexcept;

  private:
    static constexpr std::size_t history = 4;
    [[nodiscard]] std::size_t slot() const noexcept { return iteration_ % history; }

    model::Pressure spec_;
    std::uint64_t iteration_{};  // full collections seen
    std::array<std::uint64_t, history> added_{};
    std::array<std::uint64_t, history> removed_{};
    std::int64_t last_start_ns_{};
    std::int64_t last_duration_ns_{};
};

}  // namespace memsweep::lifetime
