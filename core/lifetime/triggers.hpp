// Rules that make a runtime collect. They follow what the program allocates and frees, and hold none of its memory.
//
// Units    bytes, nanoseconds of any monotonic clock.
// Threads  one at a time: the owner of a trigger serialises its calls.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

#include "core/model/specs.hpp"

namespace memsweep::lifetime {

enum class Due : std::uint8_t {
    no,
    now,         // the allocation waits for the collection
    background,  // it is asked for and runs beside the program
};

// How far a collection looks: at the containers of this age and at younger ones.
enum class Generation : std::uint8_t { youngest, middle, oldest };

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
    // Call after the collection that was asked for: whether the same allocation asks for one more.
    [[nodiscard]] virtual Due again() noexcept { return Due::no; }
    // The generation that the collection asked for looks at.
    [[nodiscard]] virtual Generation generation() const noexcept { return Generation::oldest; }
    virtual void freed(std::uint64_t /*bytes*/) noexcept {}  // really freed, by whomever
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
// deallocated pass a threshold. It collects each older generation after every tenth collection of the one before. But
// it collects the oldest only if the containers that came to it since it was last looked at are a quarter or more of
// those that it held then.
//
// Each array makes its own containers, short-lived ones, and companions (a list of lists) that live until the next
// array's are made. Containers freed go to a free list first: from there they are made again, and neither is counted. A
// count of 0 falls no further: what was alive at a collection is not subtracted when it goes.
//
// Sources  CPython 3.11, Modules/gcmodule.c (gc_alloc, PyObject_GC_Del, gc_collect_generations), thresholds (700, 10,
//          10); Objects/listobject.c, PyList_MAXFREELIST.
class CycleCounts final : public Trigger {
  public:
    explicit CycleCounts(const model::CycleThresholds& spec) noexcept
        : spec_{spec}, young_{spec.containers_at_start}, free_{std::min(spec.free_list, freed_before)},
          long_lived_{spec.long_lived}
    {
    }

    [[nodiscard]] Due before_allocate(std::uint64_t /*bytes*/, std::int64_t /*now_ns*/) noexcept override
    {
        young_ += spec_.containers_per_array;
        arrays_ += spec_.containers_per_array;
        made_ += spec_.containers_per_array;
        const std::uint32_t reused = std::min(spec_.containers_beside, free_);
        free_ -= reused;
        unmade_ = spec_.containers_beside - reused;
        return make_the_rest(spec_.temporary_containers);
    }

    [[nodiscard]] Due again() noexcept override { return asked_ || finished_ ? Due::no : make_the_rest(0); }
    [[nodiscard]] Generation generation() const noexcept override { return generation_; }

    // An array is freed by its count, or by a collection, which resets the count of the young right after.
    void freed(std::uint64_t /*bytes*/) noexcept override
    {
        young_ -= std::min<std::uint64_t>(young_, spec_.containers_per_array);
        arrays_ -= std::min<std::uint64_t>(arrays_, spec_.containers_per_array);
    }

    // The array being made is the first of the new young generation.
    void collected(const Collection& collection) noexcept override
    {
        const bool own = std::exchange(asked_, false);
        count(own ? generation_ : Generation::oldest);
        young_ = collection.asked_for ? 0 : std::min(spec_.containers_per_array, spec_.generation0);
    }

    // How many collections there were of the youngest generation alone, of the two youngest, and of all.
    [[nodiscard]] const std::array<std::uint64_t, 3>& collections() const noexcept { return collections_; }

  private:
    // Makes the remaining containers beside the array, up to the one that passes the threshold.
    [[nodiscard]] Due make_the_rest(std::uint32_t temporary) noexcept
    {
        finished_ = young_ + std::max<std::uint64_t>(unmade_, temporary) <= spec_.generation0;
        if (finished_) {
            young_ += std::exchange(unmade_, 0);
            free_those_before();
            return Due::no;
        }
        const std::uint64_t fit = spec_.generation0 - std::min<std::uint64_t>(young_, spec_.generation0);
        unmade_ -= static_cast<std::uint32_t>(std::min<std::uint64_t>(unmade_, fit + 1));
        asked_ = true;
        generation_ = due_generation();
        return Due::now;
    }

    void free_those_before() noexcept
    {
        const std::uint32_t gone = std::exchange(beside_, spec_.containers_beside);
        const std::uint32_t kept = std::min(gone, spec_.free_list - free_);
        free_ += kept;
        young_ -= std::min<std::uint64_t>(young_, gone - kept);
    }

    [[nodiscard]] Generation due_generation() const noexcept
    {
        if (since_[1] > spec_.generation2 && passed_on_ >= long_lived_ / 4) {
            return Generation::oldest;
        }
        return since_[0] > spec_.generation1 ? Generation::middle : Generation::youngest;
    }

    void count(Generation generation) noexcept
    {
        ++collections_[static_cast<std::size_t>(generation)];
        const std::uint64_t beside = beside_ + (finished_ ? 0 : spec_.containers_beside - unmade_);
        switch (generation) {
        case Generation::youngest:
            ++since_[0];
            return;
        case Generation::middle:
            since_[0] = 0;
            ++since_[1];
            passed_on_ += std::min(std::exchange(made_, 0), arrays_) + beside;
            return;
        case Generation::oldest:
            since_ = {};
            long_lived_ = spec_.long_lived + arrays_ + beside;
            passed_on_ = 0;
            made_ = 0;
            free_ = 0;
            return;
        }
    }

    // Containers that the interpreter itself has freed since its last collection, as seen in CPython 3.11.
    static constexpr std::uint32_t freed_before = 3;

    model::CycleThresholds spec_;
    std::uint64_t young_;                   // containers allocated minus deallocated since the last collection
    std::uint32_t unmade_{};                // containers beside the array at hand that are left to make
    std::uint32_t beside_{};                // alive beside the last array that was finished
    std::uint32_t free_;                    // in the free list
    bool finished_{true};                   // nothing of the array at hand is left to make
    bool asked_{};                          // a collection is asked for that has not come yet
    Generation generation_{};               // of the collection that was asked for last
    std::uint64_t arrays_{};                // containers of arrays that are not freed
    std::uint64_t made_{};                  // arrays' containers, since the oldest generation got some
    std::uint64_t passed_on_{};             // containers that came to the oldest generation since it was looked at
    std::uint64_t long_lived_;              // containers that it held then
    std::array<std::uint64_t, 2> since_{};  // collections of the generation below since this one was collected
    std::array<std::uint64_t, 3> collections_{};
};

// Triggers on native memory that a program registers with its runtime, because its own heap does not show it.

// GC.AddMemoryPressure of CoreCLR. It compares the bytes added since the last full collection with a budget, which
// grows with the ratio of additions to removals over the last collections. It also caps how often collections may come.
// Removals are not subtracted from the bytes added since the last collection. So a program that frees all it allocates
// is collected all the same.
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

    // The bytes that additions may reach before a collection is asked for.
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
