// What makes a runtime collect: rules over what the program allocates and frees. They hold no memory of the program.
//
// Units    bytes, nanoseconds of any monotonic clock.
// Threads  one at a time: the owner of a trigger serialises its calls.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "core/model/specs.hpp"

namespace memsweep::lifetime {

enum class Due : std::uint8_t {
    no,
    now,         // the allocation waits for the collection
    background,  // it is asked for and runs beside the program
};

struct Collection {
    std::int64_t start_ns{};
    std::int64_t end_ns{};
    std::uint64_t freed_bytes{};  // by the collection itself, or found by it for others to free
    bool asked_for{};             // by the program, not by a trigger
};

class Trigger {
  public:
    Trigger() = default;
    Trigger(const Trigger&) = delete;
    Trigger& operator=(const Trigger&) = delete;
    virtual ~Trigger() = default;

    [[nodiscard]] virtual Due before_allocate(std::uint64_t bytes, std::int64_t now_ns) noexcept = 0;
    virtual void freed(std::uint64_t /*bytes*/) noexcept {}  // at last, by whomever
    virtual void collected(const Collection& /*collection*/) noexcept {}
};

// Triggers that count what a program allocates and are blind to its bytes.
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

    [[nodiscard]] Due before_allocate(std::uint64_t /*bytes*/, std::int64_t /*now_ns*/) noexcept override
    {
        young_ += spec_.containers_per_array;
        return young_ + spec_.temporary_containers > spec_.generation0 ? Due::now : Due::no;
    }

    // The array being made is the first of the new young generation.
    void collected(const Collection& collection) noexcept override
    {
        young_ = collection.asked_for ? 0 : spec_.containers_per_array;
        if (collection.asked_for) {
            since_ = {};
            ++collections_[2];
        } else {
            choose_generation();
        }
    }

    // Of the youngest generation alone, of the two youngest, of all.
    [[nodiscard]] const std::array<std::uint64_t, 3>& collections() const noexcept { return collections_; }

  private:
    void choose_generation() noexcept
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

    model::CycleThresholds spec_;
    std::uint64_t young_;        // containers allocated minus deallocated since the last collection
    std::uint64_t passed_on_{};  // young containers that survived: what the oldest generation has not looked at
    std::uint64_t long_lived_{};
    std::array<std::uint64_t, 2> since_{};  // collections of the generation below since this one was collected
    std::array<std::uint64_t, 3> collections_{};
};

// Triggers on native memory that a program registers with its runtime, because its own heap does not show it.
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

    [[nodiscard]] Due before_allocate(std::uint64_t bytes, std::int64_t now_ns) noexcept override
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

    void freed(std::uint64_t bytes) noexcept override { removed_[slot()] += bytes; }
    void collected(const Collection& collection) noexcept override
    {
        ++iteration_;
        added_[slot()] = 0;
        removed_[slot()] = 0;
        last_start_ns_ = collection.start_ns;
        last_duration_ns_ = collection.end_ns - collection.start_ns;
    }

    // What additions may reach before a collection is asked for.
    [[nodiscard]] std::uint64_t budget() const noexcept
    {
        const std::uint64_t least = spec_.min_budget;
        std::uint64_t budget = least;
        if (iteration_ >= history) {
            const std::uint64_t added =
                std::accumulate(added_.begin(), added_.end(), std::uint64_t{0}) - added_[slot()];
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

    [[nodiscard]] Due before_allocate(std::uint64_t bytes, std::int64_t now_ns) noexcept override
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

    void freed(std::uint64_t bytes) noexcept override { live_ -= std::min(bytes, live_); }

    void collected(const Collection& collection) noexcept override
    {
        const auto took = static_cast<double>(collection.end_ns - collection.start_ns);
        gc_ns_ = last_end_ns_ < 0 ? took : 0.75 * gc_ns_ + 0.25 * took;
        const auto before = static_cast<double>(live_ + collection.freed_bytes);
        last_freed_ = before > 0 ? static_cast<double>(collection.freed_bytes) / before : 0;
        last_end_ns_ = collection.end_ns;
    }

  private:
    model::Pressure spec_;
    std::uint64_t live_{};
    std::int64_t last_end_ns_{-1};
    double gc_ns_{};       // smoothed
    double last_freed_{};  // share of what was live
};

}  // namespace memsweep::lifetime
