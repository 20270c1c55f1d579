// IEEE 754 half precision to and from single, rounding to nearest even: GCC 12's _Float16 needs a library call per
// element where the machine has no half-precision arithmetic.
//
// Sources  NaNs as IEEE 754 and the F16C instructions have them: the payload's high bits stay, and they become quiet.
// Cost     a few integer and float operations and no branch that depends on the data more than once; vectorisable.
#pragma once

#include <bit>
#include <cstdint>

namespace memsweep::array {

[[nodiscard]] inline float float_from_half(std::uint16_t half) noexcept
{
    constexpr std::uint32_t exponent_gap = (127 - 15) << 23;
    const std::uint32_t sign = (half & 0x8000U) << 16;
    const std::uint32_t magnitude = (half & 0x7FFFU) << 13;  // exponent and fraction where a float has them
    std::uint32_t bits = magnitude + exponent_gap;
    if (magnitude >= 0x1FU << 23) {
        bits += exponent_gap;  // infinity or NaN: the exponent becomes a float's highest, too
        bits |= (magnitude & 0x007F'FFFFU) != 0 ? 0x0040'0000U : 0U;
    } else if (magnitude < 1U << 23) {
        // Zero or subnormal: a fraction of 2^-14, made by subtracting the leading one that it lacks.
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
        // Adding 0.5 leaves a subnormal's ten bits lowest in the sum's fraction, rounded by the addition itself.
        const float sum = std::bit_cast<float>(magnitude) + 0.5F;
        half = std::bit_cast<std::uint32_t>(sum) - std::bit_cast<std::uint32_t>(0.5F);
    } else {
        // Adds half a unit of the last bit that stays, less one if that bit is 0: ties go to even. A carry may reach
        // infinity.
        const std::uint32_t odd = (magnitude >> 13) & 1U;
        half = (magnitude - ((127U - 15U) << 23) + 0xFFFU + odd) >> 13;
    }
    return static_cast<std::uint16_t>(half | sign);
}

}  // namespace memsweep::array
