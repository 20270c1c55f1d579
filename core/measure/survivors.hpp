// Decides whether the memory of a call site keeps growing, from the allocation times of its blocks that are still live
// (its survivors). The slope of live bytes would be wrong here: it also rises for tables that were filled once and for
// caches that have reached their size.
//
// The recording is divided into twenty windows. A window counts if it is older than 1.5 times the longest lifetime of
// freed blocks (without the longest 0.1 % of lifetimes). A block from such a window that is still live has outlived the
// usual lifetimes. A site grows if three things hold:
//   - From the window with the site's first survivor on (inclusive), at least five windows count.
//   - At least 90 % of these windows contain survivors of the site.
//   - At least 35 % of the site's surviving bytes in these windows are in the later half of the windows.
// A cache that is still filling meets these rules too: events alone do not distinguish it from a leak.
//
// Units    time is counted in events of the recording; bytes.
// Cost     a few ns per block.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace memsweep::measure {

// A histogram of the lifetimes of freed blocks. Between a lifetime and its double there are eight steps.
class Lifetimes {
  public:
    void add(std::uint64_t life) noexcept
    {
        ++counts_[step_of(life)];
        ++count_;
    }
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    // Returns the lifetime that 99.9 % of the blocks do not exceed, rounded up by at most an eighth.
    [[nodiscard]] std::uint64_t longest() const noexcept;

  private:
    static constexpr std::size_t steps = 8;
    [[nodiscard]] static std::size_t step_of(std::uint64_t life) noexcept;
    std::array<std::uint32_t, 62 * steps> counts_{};
    std::uint64_t count_{};
};

struct Survivor {
    std::uint64_t born{};  // the number of its allocation event
    std::uint64_t bytes{};
};

inline constexpr std::uint64_t fewest_ended_lives = 100;  // fewer freed blocks say too little about lifetimes

// Whether a site with these survivors grows. `longest_life`: Lifetimes::longest(). `now`: the number of events so far.
[[nodiscard]] bool grows(std::span<const Survivor> survivors, std::uint64_t longest_life, std::uint64_t now);

}  // namespace memsweep::measure
