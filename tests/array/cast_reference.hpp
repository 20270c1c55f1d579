// One element converted the long way: through a number that holds any of them exactly.
#pragma once

#include <bit>
#include <cmath>
#include <cstring>

#include "core/array/half.hpp"
#include "core/base/checked.hpp"
#include "core/model/elements.hpp"

namespace memsweep::tests {

__extension__ using WideInteger = __int128;  // holds every 64-bit one, signed or not

struct Number {
    bool is_integer{};
    WideInteger integer{};
    double real{};
    double imaginary{};
};

// The value of a half, from its fields.
inline double half_value(std::uint16_t half)
{
    const int exponent = (half >> 10) & 0x1F;
    const int fraction = half & 0x3FF;
    double magnitude = std::ldexp(fraction + (exponent == 0 ? 0 : 1024), (exponent == 0 ? 1 : exponent) - 25);
    if (exponent == 0x1F) {
        magnitude = fraction == 0 ? HUGE_VAL : static_cast<double>(NAN);
    }
    return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

// The nearest half by search, the even one of two: 65536 counts as what comes after the largest, and is infinity.
inline std::uint16_t nearest_half(double value)
{
    const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
    if (std::isnan(value)) {
        return static_cast<std::uint16_t>(sign | 0x7E00);
    }
    const double magnitude = std::fabs(value);
    std::uint16_t low = 0;
    std::uint16_t high = 0x7C00;
    const auto of = [](std::uint16_t half) { return half == 0x7C00 ? 65536.0 : half_value(half); };
    while (high - low > 1) {
        const auto middle = static_cast<std::uint16_t>((low + high) / 2);
        (of(middle) <= magnitude ? low : high) = middle;
    }
    const double below = magnitude - of(low);
    const double above = of(high) - magnitude;
    const bool up = above < below || (above == below && (low & 1) != 0);
    return static_cast<std::uint16_t>(sign | (up || std::isinf(magnitude) ? high : low));
}

template <typename T>
T raw(const std::byte* at)
{
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

inline Number number_at(const std::byte* at, model::DType dtype)
{
    using model::DType;
    const auto integer = [](auto value) { return Number{true, value, 0, 0}; };
    switch (dtype) {
    case DType::boolean:
    case DType::uint8:
        return integer(raw<std::uint8_t>(at));
    case DType::int8:
        return integer(raw<std::int8_t>(at));
    case DType::int16:
        return integer(raw<std::int16_t>(at));
    case DType::uint16:
    case DType::char16:
        return integer(raw<std::uint16_t>(at));
    case DType::int32:
        return integer(raw<std::int32_t>(at));
    case DType::uint32:
        return integer(raw<std::uint32_t>(at));
    case DType::int64:
        return integer(raw<std::int64_t>(at));
    case DType::uint64:
        return integer(raw<std::uint64_t>(at));
    case DType::float16:
        return {false, 0, half_value(raw<std::uint16_t>(at)), 0};
    case DType::float32:
        return {false, 0, static_cast<double>(raw<float>(at)), 0};
    case DType::float64:
        return {false, 0, raw<double>(at), 0};
    case DType::complex128:
        return {false, 0, raw<double>(at), raw<double>(at + sizeof(double))};
    case DType::decimal128:
        break;
    }
    return {};
}

// What a conversion instruction of x86 gives: the lowest value for all that does not fit.
inline WideInteger cut(double value, int bits)
{
    const double bound = std::ldexp(1.0, bits - 1);
    const double whole = std::trunc(value);
    return whole >= -bound && whole < bound ? static_cast<WideInteger>(whole) : -(WideInteger{1} << (bits - 1));
}

inline std::uint64_t integer_bits(const Number& number, model::DType to)
{
    using model::DType;
    if (number.is_integer) {
        return static_cast<std::uint64_t>(number.integer);
    }
    if (to == DType::uint64 && number.real >= 0x1p63) {
        return static_cast<std::uint64_t>(cut(number.real - 0x1p63, 64)) ^ (std::uint64_t{1} << 63);
    }
    const bool wide = to == DType::int64 || to == DType::uint64 || to == DType::uint32;
    return static_cast<std::uint64_t>(cut(number.real, wide ? 64 : 32));
}

// Writes `number` as an element of type `to`; x86 is little-endian, and so is every machine this runs on.
inline void write_number(std::byte* out, const Number& number, model::DType to)
{
    using model::DType;
    const auto real = number.is_integer ? static_cast<double>(number.integer) : number.real;
    if (to == DType::boolean) {
        out[0] = std::byte{number.integer != 0 || number.real != 0 || number.imaginary != 0};
    } else if (to == DType::float16) {
        const std::uint16_t half = nearest_half(real);
        std::memcpy(out, &half, sizeof half);
    } else if (to == DType::float32) {
        const float single = number.is_integer ? static_cast<float>(number.integer) : static_cast<float>(real);
        std::memcpy(out, &single, sizeof single);
    } else if (to == DType::float64 || to == DType::complex128) {
        const double both[2]{real, number.imaginary};
        std::memcpy(out, both, model::size_bytes(to));
    } else {
        const std::uint64_t bits = integer_bits(number, to);
        std::memcpy(out, &bits, model::size_bytes(to));
    }
}

}  // namespace memsweep::tests
