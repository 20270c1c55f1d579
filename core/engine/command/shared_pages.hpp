// Bounds the memory of a process tree whose processes share pages, and decides when an exact measurement is worth it.
//
// To count each shared page once, page tables must be walked (sys::with_shared_once), which is too expensive for every
// sample. But the result of one walk bounds later values: private memory becomes shared only by fork. So until the next
// fork, shared pages only become fewer, and memory grows at most by the new pages. A cheap sample gives both bounds.
// Another walk is made only if the upper bound exceeds the value of interest, such as the peak so far.
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

    // Call with every sample, in order. Returns true on three conditions: a walk could find more than `above_bytes`,
    // another walk is allowed by now (see walked()), and the tree is not growing at the moment. If the tree keeps
    // growing, the last condition is dropped after `patience`.
    [[nodiscard]] bool is_walk_due(const sys::TreeSample& now, std::uint64_t above_bytes, TimePoint at);

    // Call after a walk. `now`: the sample just before it. `bytes`: the walk's result, which counts each page once.
    void walked(const sys::TreeSample& now, std::uint64_t bytes, TimePoint not_again_before);

    [[nodiscard]] bool has_walked() const { return walk_.has_value(); }

    // A lower bound of the memory with each page counted once, without a walk. nullopt: not known.
    [[nodiscard]] std::optional<std::uint64_t> least_bytes(const sys::TreeSample& now) const;

    static constexpr std::chrono::milliseconds patience{200};

  private:
    struct Walk {
        sys::TreeSample sample;
        std::uint64_t bytes{};
    };

    [[nodiscard]] std::uint64_t most_bytes(const sys::TreeSample& now) const;

    std::optional<Walk> walk_;  // the last walk
    sys::TreeSample before_;    // the sample of the last call of is_walk_due()
    TimePoint not_before_;
    std::optional<TimePoint> wanted_since_;
};

}  // namespace memsweep::engine
