// Converts IEEE 754 half precision to single and single to half; rounds to nearest even. GCC 12's _Float16 would need a
// library call per element on processors without half-precision arithmetic.
//
// Sources  NaNs are converted as by IEEE 754 and F16C: they keep the high bits of their payload and become quiet.
// Cost     a few integer and float operations; vectorisable.
#pragma once

#include <bit>
#include <cstdint>

namespace memsweep::array {

[[nodiscard]] inline float float_from_half(std::uint16_t half) noexcept
{
    constexpr std::uint32_t exponent_gap = (127 - 15) << 23;
    const std::uint32_t sign = (half & 0x8000U) << 16;
    const std::uint32_t magnitude = (half & 0x7FFFU) << 13;  // exponent and fraction in their positions in a float
    std::uint32_t bits = magnitude + exponent_gap;
    if (magnitude >= 0x1FU << 23) {
        bits += exponent_gap;  // infinity or NaN: the exponent becomes the highest of a float
        bits |= (magnitude & 0x007F'FFFFU) != 0 ? 0x0040'0000U : 0U;
    } else if (magnitude < 1U << 23) {
        // Zero or subnormal: there is no implicit leading 1. Adds one to the exponent field, which makes an implicit 1,
        // and subtracts this 1 as a float.
        bits = std::bit_cast<std::uint32_t>(std::bit_cast<float>(bits + (1U << 23)) -
                                            std::bit_cast<float>((127U - 14U) << 23));
    }
    return std::bit_cast<float>(bits | sign);
}

[[nodiscard]] inline std::uint16_t half_from_float(float value) noexcept
{
    constexpr std::uint32_t overflow = (127U + 16U) << 23;  // 65536
    constexpr std::uint32_t normal = (127U - 14U) << 23;    // the smallest normal half
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (bits >> 16) & 0x8000U;
    const std::uint32_t magnitude = bits & 0x7FFF'FFFFU;
    std::uint32_t half{};
    if (magnitude >= overflow) {
        half = magnitude > 0x7F80'0000U ? 0x7E00U | ((magnitude >> 13) & 0x3FFU) : 0x7C00U;  // NaN, or infinity
    } else if (magnitude < normal) {
        // Subnormal: adding 0.5 shifts the ten bits of the half to the low end of the sum's fraction and rounds them.
        const float sum = std::bit_cast<float>(magnitude) + 0.5F;
        half = std::bit_cast<std::uint32_t>(sum) - std::bit_cast<std::uint32_t>(0.5F);
    } else {
        // Rounds: adds half a unit of the last bit that is kept; if that bit is 0, adds one less than this half, so
        // that ties round to even. A carry may turn the value into infinity.
        const std::uint32_t odd = (magnitude >> 13) & 1U;
        half = (magnitude - ((127U - 15U) << 23) + 0xFFFU + odd) >> 13;
    }
    return static_cast<std::uint16_t>(half | sign);
}

}  // namespace memsweep::array
