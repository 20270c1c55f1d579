// Converts the time stamps at the beginning of a log's lines to one continuous clock.
//
// Units    nanoseconds.
// Errors   a stamp that cannot be read does not change the clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace memsweep::trace {

// Reads a time of day such as "22:30:49.650739", or a number of seconds since 1970, and sets is_time_of_day
// accordingly. Older logs have ':' before the fraction of a time of day. nullopt: the text is neither of the two.
[[nodiscard]] std::optional<std::uint64_t> time_ns(std::string_view text, bool& is_time_of_day);

// A clock that keeps counting past midnight: read() adds a day whenever the time of day has begun again at 0. Before
// the first stamp that can be read, read() returns 0.
class LogClock {
  public:
    std::uint64_t read(std::string_view text);

  private:
    std::uint64_t last_{};
    std::uint64_t days_{};
};

}  // namespace memsweep::trace
