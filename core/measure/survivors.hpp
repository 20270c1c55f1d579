// Decides whether the memory that a call site still holds has grown all the time. It goes by when the blocks were made.
// A slope of live bytes would also find tables that filled once, and caches that have reached their size.
//
// The recording is cut into twenty windows. A window counts if it is older than one and a half times the longest life
// that has ended (of 99.9 % of blocks). Blocks from such a window that are still live do not just wait for their end. A
// site grows if three things hold: there are five such windows or more since its first survivor, 90 % of them have
// survivors, and the later half of them has at least 35 % of the bytes. A cache that is not full yet looks the same,
// because nothing in the order of events tells the two apart.
//
// Units    events of the recording; bytes.
// Cost     some ns a block.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace memsweep::measure {

// Counts how long blocks have lived, in steps of an eighth of their order of magnitude.
class Lifetimes {
  public:
    void add(std::uint64_t life) noexcept
    {
        ++counts_[step_of(life)];
        ++count_;
    }
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    // The length that 99.9 % of lives do not exceed. It is at most an eighth too long.
    [[nodiscard]] std::uint64_t longest() const noexcept;

  private:
    static constexpr std::size_t steps = 8;
    [[nodiscard]] static std::size_t step_of(std::uint64_t life) noexcept;
    std::array<std::uint32_t, 62 * steps> counts_{};
    std::uint64_t count_{};
};

struct Survivor {
    std::uint64_t born{};
    std::uint64_t bytes{};
};

inline constexpr std::uint64_t fewest_ended_lives = 100;  // with fewer, nothing is known of how long blocks live

// `now`: the number of events so far.
[[nodiscard]] bool grows(std::span<const Survivor> survivors, std::uint64_t longest_life, std::uint64_t now);

}  // namespace memsweep::measure
