// Sizes, durations and rates as people write them, strictly.
//
// Units    sizes: B KiB MiB GiB TiB (1024), kB MB GB TB (1000), a bare number is bytes;
//          durations: ns us ms s m h, never bare; rates: B/s .. TB/s and KiB/s .. TiB/s.
//          Case matters, no sign, no blank; a fraction is allowed when the result is whole.
// Errors   invalid_input, with the text and what would be accepted; "8M", "-1", "8 mb" are errors.
// Sources  output: sizes in IEC units, rates in SI, as memory vendors print them.
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

// Three significant digits and a unit: "762.9 MiB", "0 B"; "1.25 ms"; "13.4 GB/s". Never locale-dependent.
[[nodiscard]] std::string format_size(double bytes);
template <std::integral Bytes>
[[nodiscard]] std::string format_size(Bytes bytes)
{
    return format_size(static_cast<double>(bytes));
}
[[nodiscard]] std::string format_duration(double seconds);
[[nodiscard]] std::string format_rate(double bytes_per_second);

// The shortest text that parse_size reads back to exactly this value: "4KiB", "8000000".
[[nodiscard]] std::string exact_size(std::uint64_t bytes);

// The value with digits grouped and that many decimals: "29,967.5". A value that rounds to zero has no sign.
[[nodiscard]] std::string format_number(double value, int decimals);

// A whole count with its digits grouped, "195,313"; a fraction with three significant digits, "19.5".
[[nodiscard]] std::string format_count(double count);

}  // namespace memsweep::base
