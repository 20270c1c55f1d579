// The arithmetic of alignments, which are powers of two.
//
// Units    bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace memsweep::memory {

// No object can be larger than the largest pointer difference.
inline constexpr std::size_t largest_request_bytes =
    static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());

// False for what no resource can serve. Half of the address space is left to round up in, so sums cannot wrap.
[[nodiscard]] constexpr bool is_servable(std::size_t bytes, std::size_t alignment) noexcept
{
    return std::has_single_bit(alignment) && alignment <= largest_request_bytes / 4 &&
           bytes <= largest_request_bytes / 2;
}

[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t alignment) noexcept
{
    return (value + alignment - 1) & ~(alignment - 1);
}

}  // namespace memsweep::memory
