// Bounds of the memory of a tree whose processes share pages, and the decision when to find out more.
//
// Telling shared pages apart takes a walk through page tables (sys::with_shared_once), which is too expensive for every
// sample. One walk is good for a while. Processes come to share private memory by fork alone. So until the next fork,
// pages that were shared only become fewer, and memory grows at most by new pages. A cheap sample gives both bounds. A
// walk follows if the upper bound leaves room for a value of interest.
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

    // Call with every sample, in order. True if a walk could show more than `above_bytes`, is allowed, and would not be
    // wasted on a tree that still grows. If a tree never rests, a walk is due after `patience` all the same.
    [[nodiscard]] bool is_walk_due(const sys::TreeSample& now, std::uint64_t above_bytes, TimePoint at);

    // Call after a walk: right after this sample it has found so many bytes, each page counted once.
    void walked(const sys::TreeSample& now, std::uint64_t bytes, TimePoint not_again_before);

    [[nodiscard]] bool has_walked() const { return walk_.has_value(); }

    // A lower bound without a walk, each page counted once. Empty: not known.
    [[nodiscard]] std::optional<std::uint64_t> least_bytes(const sys::TreeSample& now) const;

    static constexpr std::chrono::milliseconds patience{200};

  private:
    struct Walk {
        sys::TreeSample sample;
        std::uint64_t bytes{};
    };

    [[nodiscard]] std::uint64_t most_bytes(const sys::TreeSample& now) const;

    std::optional<Walk> walk_;  // the last
    sys::TreeSample before_;    // the last that is_walk_due was asked about
    TimePoint not_before_;
    std::optional<TimePoint> wanted_since_;
};

}  // namespace memsweep::engine
