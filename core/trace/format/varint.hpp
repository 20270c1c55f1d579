// Unsigned numbers in as few bytes as they need: seven bits a byte, lowest first, the top bit says that more follow.
// Signed differences are zigzagged first, so that small ones are short whatever their sign.
//
// Cost     about 1 ns a byte.
// Memory   none: the recorder writes with it inside malloc.
// Errors   reading: nothing is read beyond `end`; a number that is cut off or longer than 64 bits is no number.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

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

// The end of what was written; `at` has room for max_varint_bytes bytes.
constexpr std::uint8_t* put_varint(std::uint8_t* at, std::uint64_t value) noexcept
{
    while (value >= 0x80) {
        *at++ = static_cast<std::uint8_t>(value | 0x80U);
        value >>= 7U;
    }
    *at++ = static_cast<std::uint8_t>(value);
    return at;
}

// The same without a branch on how long the number is: 1 ns whatever the numbers, where the loop costs up to 5 for
// lengths that nobody can foresee. Writes up to 8 bytes wherever it ends; `at` has room for max_varint_bytes bytes.
constexpr std::uint8_t* put_varint_at_once(std::uint8_t* at, std::uint64_t value) noexcept
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

// For numbers that are small as a rule, with no branch at all. A word is below 2^28, and 4 bytes are written; a half is
// below 2^14, and 2 are. Returned is how many bytes the number takes.
inline constexpr unsigned word_varint_bits = 28;
inline constexpr unsigned half_varint_bits = 14;

// On every processor.
struct PlainVarints {
    static unsigned put_word(std::uint8_t* at, std::uint32_t value) noexcept
    {
        std::uint32_t spread = (value & 0x3FFFU) | (value & 0x0FFFC000U) << 2U;
        spread = (spread & 0x007F007FU) | (spread & 0x3F803F80U) << 1U;
        // Bits of leading bytes that are zero. Turned round and counted from below: BSR is eight operations on some
        // processors.
        const unsigned unused = static_cast<unsigned>(std::countr_zero(__builtin_bswap32(spread | 1U))) & 24U;
        spread |= 0x00808080U >> unused;
        std::memcpy(at, &spread, sizeof spread);
        return 4 - unused / 8;
    }
    static unsigned put_half(std::uint8_t* at, std::uint32_t value) noexcept
    {
        const unsigned is_long = value > 0x7FU ? 1U : 0U;
        const auto spread = static_cast<std::uint16_t>((value + (value & 0x3F80U)) | is_long << 7U);
        std::memcpy(at, &spread, sizeof spread);
        return 1 + is_long;
    }
};

#if defined(__x86_64__)
// With an instruction of BMI2 and one of LZCNT for fourteen others. They are written as assembly, so that they can
// stand in functions that are there on every processor.
struct DepositedVarints {
    // Also false where the instruction is there and is a slow loop: AMD's before Zen 3.
    static bool are_fast() noexcept
    {
        unsigned a{};
        unsigned b{};
        unsigned c{};
        unsigned d{};
        if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (b & bit_BMI2) == 0 ||
            __get_cpuid(0x80000001U, &a, &b, &c, &d) == 0 || (c & bit_LZCNT) == 0 ||
            __get_cpuid(0, &a, &b, &c, &d) == 0) {
            return false;
        }
        const bool is_intel = b == signature_INTEL_ebx;
        __get_cpuid(1, &a, &b, &c, &d);
        const unsigned family = (a >> 8U & 15U) + (a >> 20U & 255U);
        return is_intel || family >= 0x19;
    }
    static unsigned put_word(std::uint8_t* at, std::uint32_t value) noexcept
    {
        std::uint32_t spread = deposit(value, 0x7F7F7F7FU);
        std::uint32_t unused{};
        __asm__("lzcnt %1, %0" : "=r"(unused) : "r"(spread | 1U) : "cc");
        unused &= 24U;
        spread |= 0x00808080U >> unused;
        std::memcpy(at, &spread, sizeof spread);
        return 4 - unused / 8;
    }
    static unsigned put_half(std::uint8_t* at, std::uint32_t value) noexcept
    {
        const std::uint32_t spread = deposit(value, 0x7F7FU);
        const std::uint32_t follows = (spread + 0x7F00U) >> 8U & 0x80U;
        const auto both = static_cast<std::uint16_t>(spread | follows);
        std::memcpy(at, &both, sizeof both);
        return 1 + (follows >> 7U);
    }

  private:
    static std::uint32_t deposit(std::uint32_t bits, std::uint32_t into) noexcept
    {
        std::uint32_t spread{};
        __asm__("pdep %2, %1, %0" : "=r"(spread) : "r"(bits), "r"(into));
        return spread;
    }
};
#endif

// The end of what was read, or nullptr.
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
