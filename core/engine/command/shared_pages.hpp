// What is known of the pages that the processes of a tree share, and when it is worth while to find out more.
//
// To tell such pages apart takes a walk through page tables (sys::with_shared_once), which is too expensive for every
// sample. One walk is good for a while: processes come to share private memory by fork alone, so the bytes that it
// found counted twice only grow less until somebody forks, and the memory grows by no more than new pages. Both bounds
// are derived from a cheap sample; a walk follows where the upper one leaves room for something of interest.
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
    // wasted on a tree that still grows. A tree that never rests is walked through all the same, after `patience`.
    [[nodiscard]] bool is_walk_due(const sys::TreeSample& now, std::uint64_t above_bytes, TimePoint at);

    // A walk right after this sample has found so many bytes, each page counted once.
    void walked(const sys::TreeSample& now, std::uint64_t bytes, TimePoint not_again_before);

    [[nodiscard]] bool has_walked() const { return walk_.has_value(); }

    // A lower bound found without a walk, each page counted once. Empty: that is not known.
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
