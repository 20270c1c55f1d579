// Triggers on native memory that a program registers with its runtime, because its own heap does not show it.
#pragma once

#include <array>
#include <cstddef>

#include "core/lifetime/trigger.hpp"

namespace memsweep::lifetime {

// GC.AddMemoryPressure of CoreCLR. It compares what was added since the last full collection with a budget, which grows
// with the ratio of additions to removals over the last collections, and it caps how often collections may come.
// Removals never lower what was added since the last collection: a program that frees all it allocates is collected all
// the same.
//
// Sources  dotnet/runtime, comutilnative.cpp (GCInterface::AddMemoryPressure), 64-bit constants.
// Units    bytes.
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

// CUDA.jl's pressure on Julia's collector. A collection comes before an allocation when the live bytes pass a share of
// the device's memory, unless collections already take too much of the time. The share that they may take doubles for
// each sign that a collection is worth it.
//
// Sources  CUDA.jl, lib/cudadrv memory management (maybe_collect): thresholds 0.75, 0.90 and 0.95; a share of 5 %; the
//          time of collections smoothed three to one.
// Units    bytes, nanoseconds.
class CudaPressure final : public Trigger {
  public:
    explicit CudaPressure(const model::Pressure& spec) noexcept : spec_{spec} {}

    [[nodiscard]] Due before_allocate(std::uint64_t bytes, std::int64_t now_ns) noexcept override;
    void freed(std::uint64_t bytes) noexcept override;
    void collected(const Collection& collection) noexcept override;

  private:
    model::Pressure spec_;
    std::uint64_t live_{};
    std::int64_t last_end_ns_{-1};
    double gc_ns_{};       // smoothed
    double last_freed_{};  // share of what was live
};

}  // namespace memsweep::lifetime
