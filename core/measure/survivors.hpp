// Whether what a call site still holds has grown all the time, by when its blocks were made: a slope of live bytes also
// finds tables that filled once, and caches at their size.
//
// Of twenty windows of the recording those count that are older than one and a half times the longest life that has
// ended (of 99.9 % of blocks): what was made there and is live is no longer waiting for its end. A site grows if since
// its first survivor there are five such windows or more, 90 % of them have survivors, and the later half of them has
// 35 % of the bytes at least. A cache that is not full yet looks the same: nothing in the order of events tells them
// apart.
//
// Units    events of the recording; bytes.
// Cost     some ns a block.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace memsweep::measure {

// How long blocks have lived, in steps of an eighth of their order of magnitude.
class Lifetimes {
  public:
    void add(std::uint64_t life) noexcept
    {
        ++counts_[step_of(life)];
        ++count_;
    }
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    // That 99.9 % of them do not exceed, at most an eighth too long.
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

inline constexpr std::uint64_t fewest_ended_lives = 100;  // below, nothing is known of how long blocks live

// `now`: events so far.
[[nodiscard]] bool grows(std::span<const Survivor> survivors, std::uint64_t longest_life, std::uint64_t now);

}  // namespace memsweep::measure
