// Unsigned numbers in as few bytes as they need: seven bits a byte, lowest first, the top bit says that more follow.
// Signed differences are zigzagged first, so that small ones are short whatever their sign.
//
// Cost     about 1 ns a byte.
// Memory   none: the recorder writes with it inside malloc.
// Errors   reading: nothing is read beyond `end`; a number that is cut off or longer than 64 bits is no number.
#pragma once

#include <cstdint>

namespace memsweep::trace {

inline constexpr std::size_t longest_varint = 10;

[[nodiscard]] constexpr std::uint64_t zigzag(std::uint64_t difference) noexcept
{
    return (difference << 1U) ^ (0 - (difference >> 63U));
}

[[nodiscard]] constexpr std::uint64_t unzigzag(std::uint64_t value) noexcept
{
    return (value >> 1U) ^ (0 - (value & 1U));
}

// The end of what was written; `at` has room for longest_varint bytes.
constexpr std::uint8_t* put_varint(std::uint8_t* at, std::uint64_t value) noexcept
{
    while (value >= 0x80) {
        *at++ = static_cast<std::uint8_t>(value | 0x80U);
        value >>= 7U;
    }
    *at++ = static_cast<std::uint8_t>(value);
    return at;
}

// The end of what was read, or nullptr.
[[nodiscard]] constexpr const std::uint8_t* get_varint(const std::uint8_t* at, const std::uint8_t* end,
                                                       std::uint64_t& value) noexcept
{
    value = 0;
    for (unsigned shift = 0; at != end && shift < 64; shift += 7) {
        const std::uint64_t bits = *at & 0x7FU;
        if (shift == 63 && bits > 1) {
            return nullptr;
        }
        value |= bits << shift;
        if ((*at++ & 0x80U) == 0) {
            return at;
        }
    }
    return nullptr;
}

}  // namespace memsweep::trace
