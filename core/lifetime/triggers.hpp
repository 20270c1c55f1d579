// Rules that make a runtime collect. They count what the program allocates and frees, but own no memory of the program.
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
    background,  // the collection runs while the program goes on
};

// The containers (objects that can refer to others) that a collection examines: those of this age and younger ones.
enum class Generation : std::uint8_t { youngest, middle, oldest };

struct Collection {
    std::int64_t start_ns{};
    std::int64_t end_ns{};
    std::uint64_t freed_bytes{};  // freed by the collection, or found by it and left to a finalizer thread to free
    bool asked_for{};             // the program asked for the collection, not a trigger
};

class Trigger {
  public:
    Trigger() = default;
    Trigger(const Trigger&) = delete;
    Trigger& operator=(const Trigger&) = delete;
    virtual ~Trigger() = default;

    [[nodiscard]] virtual Due before_allocate(std::uint64_t bytes, std::int64_t now_ns) noexcept = 0;
    // Call after the collection that before_allocate() asked for. Says whether the same allocation asks for one more.
    [[nodiscard]] virtual Due again() noexcept { return Due::no; }
    // Which containers the requested collection must examine.
    [[nodiscard]] virtual Generation generation() const noexcept { return Generation::oldest; }
    virtual void freed(std::uint64_t /*bytes*/) noexcept {}  // call when this many bytes were really freed
    virtual void collected(const Collection& /*collection*/) noexcept {}
};

// Triggers that count a program's objects and ignore their sizes.

// Asks for a collection before an allocation if a given number of allocations were made since the last collection.
class AllocationCount final : public Trigger {
  public:
    explicit AllocationCount(std::uint64_t every) noexcept : every_{every} {}

    // The count restarts at the allocation that asks for a collection, not when this collection has ended. Otherwise
    // other threads would ask again in the meantime.
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
            since_ = 1;  // another trigger asked for it
        } else {
            --asked_;
        }
    }

  private:
    std::uint64_t every_;
    std::uint64_t since_{};
    std::uint64_t asked_{};  // collections that this trigger asked for and that have not ended
};

// CPython's cyclic collector. It collects the youngest generation when the number of container objects allocated, minus
// those deallocated, passes a threshold. It collects the middle generation after more than 10 collections of the
// youngest, and the oldest after more than 10 collections of the middle one. But it collects the oldest only if that
// generation has grown by a quarter or more since it was last collected.
//
// Each array makes its own containers, short-lived ones, and companions (a list of lists) that live until the
// companions of the next array are made. Freed containers go to a free list first. A container that goes to this list,
// or is taken from it, is not counted. The count never falls below 0, so containers that survive a collection may be
// freed later without being subtracted.
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

    // An array is freed when its reference count is 0, or by a collection, which resets young_ right afterwards.
    void freed(std::uint64_t /*bytes*/) noexcept override
    {
        young_ -= std::min<std::uint64_t>(young_, spec_.containers_per_array);
        arrays_ -= std::min<std::uint64_t>(arrays_, spec_.containers_per_array);
    }

    // The array that is being made is the first one in the new young generation.
    void collected(const Collection& collection) noexcept override
    {
        const bool own = std::exchange(asked_, false);
        count(own ? generation_ : Generation::oldest);
        young_ = collection.asked_for ? 0 : std::min(spec_.containers_per_array, spec_.generation0);
    }

    // Returns three numbers of collections: of the youngest generation alone, of the two youngest, and of all three.
    [[nodiscard]] const std::array<std::uint64_t, 3>& collections() const noexcept { return collections_; }

  private:
    // Makes the remaining companions of the array, but stops at the container that passes the threshold.
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

    // The number of containers that the interpreter itself has put on the free list before the first array. Observed in
    // CPython 3.11.
    static constexpr std::uint32_t freed_before = 3;

    model::CycleThresholds spec_;
    std::uint64_t young_;        // since the last collection: containers allocated, minus those deallocated
    std::uint32_t unmade_{};     // companions of the current array that are not made yet
    std::uint32_t beside_{};     // live companions of the last finished array
    std::uint32_t free_;         // containers in the free list
    bool finished_{true};        // the current array and its companions are made
    bool asked_{};               // a collection was asked for and has not come yet
    Generation generation_{};    // of the collection that was asked for last
    std::uint64_t arrays_{};     // containers of arrays that are not freed
    std::uint64_t made_{};       // containers of arrays made since the oldest generation last got containers
    std::uint64_t passed_on_{};  // containers that the oldest generation got since it was last collected
    std::uint64_t long_lived_;   // containers that the oldest generation held when it was last collected
    // [0]: collections of the youngest generation since the middle one was last collected. [1]: collections of the
    // middle generation since the oldest was last collected.
    std::array<std::uint64_t, 2> since_{};
    std::array<std::uint64_t, 3> collections_{};
};

// Triggers on native memory, which a program registers with its runtime because the runtime's own heap does not show
// it.

// GC.AddMemoryPressure of CoreCLR. It compares the bytes added since the last full collection with a budget. The budget
// grows with the ratio of added to removed bytes over the last collections. After a collection, no further one is asked
// for until `duty` times its duration has passed. Removals are not subtracted from the bytes added, so collections come
// even if the program frees all that it allocates.
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

    // Returns the number of added bytes at which a collection is asked for.
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

// The rule by which CUDA.jl calls Julia's collector. A collection comes before an allocation if the live bytes pass a
// share of the device's memory. The collection is left out if collections take too large a share of the time. The
// allowed share doubles for each of three signs that a collection is worth its time: the last collection freed more
// than 10 % of the live bytes; the live bytes are more than 90 % of the device's memory; they are more than 95 % of it.
//
// Sources  CUDA.jl, lib/cudadrv memory management (maybe_collect): thresholds 0.75, 0.90 and 0.95; a share of 5 % of
//          the time. The time of a collection is smoothed: three quarters old value, one quarter new.
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
    double last_freed_{};  // the share of the live bytes that the last collection freed
};

}  // namespace memsweep::lifetime
