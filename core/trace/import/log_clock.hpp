// Turns the stamps at the beginning of a log's lines into one continuous clock.
//
// Units    nanoseconds.
// Errors   a stamp that cannot be read leaves the clock where it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace memsweep::trace {

// Reads "22:30:49.650739" or seconds since 1970. Older logs have ':' before the fraction. nullopt: the text is neither.
[[nodiscard]] std::optional<std::uint64_t> time_ns(std::string_view text, bool& is_time_of_day);

// Adds a day whenever the time of day has started over at midnight.
class LogClock {
  public:
    std::uint64_t read(std::string_view text);

  private:
    std::uint64_t last_{};
    std::uint64_t days_{};
};

}  // namespace memsweep::trace
