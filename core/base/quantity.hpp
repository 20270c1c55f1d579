// Strictly parses sizes, durations and rates in human-readable form, and formats them.
//
// Units    sizes: B KiB MiB GiB TiB (1024), kB MB GB TB (1000), a number without a unit is in bytes; durations: ns us
//          ms s m h, the unit is required; rates: B/s to TB/s and KiB/s to TiB/s. Units are case-sensitive. Signs and
//          blanks are errors. A fraction such as "1.5KiB" is allowed if the result is a whole number of bytes or
//          nanoseconds.
// Errors   invalid_input, with the text and the accepted form; "8M", "-1" and "8 mb" are errors.
// Sources  output: sizes in IEC units (KiB), rates in SI units (GB/s), as memory vendors print them.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/expected.hpp"

namespace memsweep::base {

[[nodiscard]] Expected<std::uint64_t> parse_size(std::string_view text);
[[nodiscard]] Expected<std::chrono::nanoseconds> parse_duration(std::string_view text);
[[nodiscard]] Expected<double> parse_rate(std::string_view text);  // bytes per second

// format_size(), format_duration() and format_rate() return a number and a unit: "762.9 MiB", "1.25 ms", "13.4 GB/s".
// The number has at least three significant digits; a size below 1 KiB is a whole number ("0 B"). The locale has no
// effect.
[[nodiscard]] std::string format_size(double bytes);
template <std::integral Bytes>
[[nodiscard]] std::string format_size(Bytes bytes)
{
    return format_size(static_cast<double>(bytes));
}
[[nodiscard]] std::string format_duration(double seconds);
[[nodiscard]] std::string format_rate(double bytes_per_second);

// Returns the shortest text that parse_size converts back to exactly this value: "4KiB", "8000000".
[[nodiscard]] std::string exact_size(std::uint64_t bytes);

// Returns the value with grouped digits and `decimals` decimal places: "29,967.5". A value that rounds to zero has no
// sign.
[[nodiscard]] std::string format_number(double value, int decimals);

// Returns a whole number with grouped digits, "195,313", and any other number with at least three significant digits,
// "19.5".
[[nodiscard]] std::string format_count(double count);

}  // namespace memsweep::base
