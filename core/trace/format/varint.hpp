// Encodes varints: unsigned numbers in as few bytes as they need. Each byte has seven bits of the number, the lowest
// bits in the first byte. The byte's top bit says whether another byte follows. zigzag() converts a signed difference
// to an unsigned number such that small differences of either sign give small numbers: 0, -1, 1, -2 become 0, 1, 2, 3.
//
// Cost     about 1 ns per byte.
// Memory   none.
// Errors   get_varint() reads nothing beyond `end`. It returns null for a number that is cut off or longer than 64
//          bits.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace memsweep::trace {

inline constexpr std::size_t max_varint_bytes = 10;

[[nodiscard]] constexpr std::uint64_t zigzag(std::uint64_t difference) noexcept
{
    return (difference << 1U) ^ (0 - (difference >> 63U));
}

[[nodiscard]] constexpr std::uint64_t unzigzag(std::uint64_t value) noexcept
{
    return (value >> 1U) ^ (0 - (value & 1U));
}

// Writes a number at `at`, where there must be space for max_varint_bytes. Returns the end of the written bytes.
constexpr std::uint8_t* put_varint(std::uint8_t* at, std::uint64_t value) noexcept
{
    while (value >= 0x80) {
        *at++ = static_cast<std::uint8_t>(value | 0x80U);
        value >>= 7U;
    }
    *at++ = static_cast<std::uint8_t>(value);
    return at;
}

// Does the same as put_varint(), without a branch on the length of the number. It takes 1 ns for any number below 2^56.
// The loop of put_varint() takes up to 5 ns if the processor cannot predict the lengths of the numbers.
// put_varint_at_once() may write 8 bytes even for a shorter number. At `at` there must be space for max_varint_bytes.
[[gnu::always_inline]] constexpr std::uint8_t* put_varint_at_once(std::uint8_t* at, std::uint64_t value) noexcept
{
    if (std::is_constant_evaluated() || value >> 56U != 0) {
        return put_varint(at, value);
    }
    const unsigned bytes = (static_cast<unsigned>(std::bit_width(value | 1U)) * 9U + 64U) / 64U;
    std::uint64_t spread = (value & 0x0FFFFFFFU) | (value & 0x00FFFFFFF0000000U) << 4U;
    spread = (spread & 0x00003FFF00003FFFU) | (spread & 0x0FFFC0000FFFC000U) << 2U;
    spread = (spread & 0x007F007F007F007FU) | (spread & 0x3F803F803F803F80U) << 1U;
    spread |= 0x8080808080808080U & ((1ULL << (8U * bytes - 8U)) - 1U);
    std::memcpy(at, &spread, sizeof spread);
    return at + bytes;
}

// Reads a number at `at`, and returns its end in the input. Null: the number is cut off at `end`, or longer than 64
// bits.
[[nodiscard, gnu::always_inline]] constexpr const std::uint8_t*
get_varint(const std::uint8_t* at, const std::uint8_t* end, std::uint64_t& value) noexcept
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
