// What makes a runtime collect: rules over what the program allocates and frees. They hold no memory of the program.
//
// Units    bytes, nanoseconds of any monotonic clock.
// Threads  one at a time: the owner of a trigger serialises its calls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
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

// Every trigger that the spec asks for.
[[nodiscard]] std::vector<std::unique_ptr<Trigger>> make_triggers(const model::ReleaseSpec& spec);

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

// Triggers on the fill level of a runtime's managed heap.
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
