// Bounds the memory of a process tree (a program and its descendants) whose processes share pages. Decides when an
// exact measurement is worth its cost.
//
// Samples count a page once for each process that shares it. To count every page only once, page tables must be walked
// (sys::with_shared_once). Such a walk is too expensive for every sample. But the result of a walk bounds the memory at
// later samples, because private memory becomes shared only by fork. Until the next fork, no sample overcounts the
// memory by more than the sample at the walk; a sample minus that overcount is a lower bound. The memory has grown at
// most by the pages that are new since the walk; this gives an upper bound. Another walk is made only if the upper
// bound exceeds the value of interest, such as the peak so far.
//
// Units    bytes.
// Threads  one.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "core/sys/tree_sample.hpp"

namespace memsweep::engine {

class SharedPages {
  public:
    using TimePoint = std::chrono::steady_clock::time_point;

    // Call with every sample, in order. Returns true if processes share pages and three conditions hold: a walk could
    // find more than `above_bytes`, walked() does not forbid another walk at the time `at`, and the tree's memory is
    // not growing at the moment. If it keeps growing, the last condition is dropped after `patience`.
    [[nodiscard]] bool is_walk_due(const sys::TreeSample& now, std::uint64_t above_bytes, TimePoint at);

    // Call after a walk. `now`: the last sample before the walk. `bytes`: the walk's result, which counts each page
    // only once. Until `not_again_before`, is_walk_due() returns false.
    void walked(const sys::TreeSample& now, std::uint64_t bytes, TimePoint not_again_before);

    [[nodiscard]] bool has_walked() const { return walk_.has_value(); }

    // Returns a lower bound of the memory with each page counted only once. Makes no walk. nullopt: no bound is known.
    [[nodiscard]] std::optional<std::uint64_t> least_bytes(const sys::TreeSample& now) const;

    static constexpr std::chrono::milliseconds patience{200};

  private:
    struct Walk {
        sys::TreeSample sample;
        std::uint64_t bytes{};
    };

    [[nodiscard]] std::uint64_t most_bytes(const sys::TreeSample& now) const;

    std::optional<Walk> walk_;  // the last walk; nullopt: there was none
    sys::TreeSample before_;    // the sample of the last call of is_walk_due()
    TimePoint not_before_;
    std::optional<TimePoint> wanted_since_;
};

}  // namespace memsweep::engine
